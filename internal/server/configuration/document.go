// Package configuration writes what an account is set up with as one document,
// and reads such a document into an account. Both the API and the dashboard do
// so; what is changed goes through the use cases of endpoints, sources and event
// types, as if each object had been sent by itself.
package configuration

import (
	"encoding/json"

	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/resource"
)

// Version is that of the document's form.
const Version = 1

// MaxBytes is the longest document that is read.
const MaxBytes = 8 << 20

// ConfigurationBody is what an account is set up with. Its objects are written
// as the API takes them. Secrets are not among it.
//
//nolint:revive // the name under which the API's documentation has it
type ConfigurationBody struct {
	Version    int                      `json:"version" minimum:"1" maximum:"1" doc:"Of the document's form: 1."`
	EventTypes []ConfiguredTypeBody     `json:"event_types" nullable:"false" doc:"By name."`
	Sources    []ConfiguredSourceBody   `json:"sources" nullable:"false" doc:"Each with its rule, without its secrets."`
	Endpoints  []ConfiguredEndpointBody `json:"endpoints" nullable:"false" doc:"Without what is sent in headers and in the Authorization header. One fails over to another by its uid."`
	LeftOut    []LeftOutBody            `json:"left_out,omitempty" nullable:"false" doc:"What is set and was left out because it is secret. It is not read."`
}

// ConfiguredTypeBody is an event type.
type ConfiguredTypeBody struct {
	Name *string `json:"name" nullable:"false" example:"order.created"`

	resource.EventTypeBody
}

// ConfiguredSourceBody is a source, with its rule.
type ConfiguredSourceBody struct {
	resource.SourceBody

	Kind   *string                             `json:"kind" nullable:"false" example:"github"`
	Secret *string                             `json:"secret,omitempty" nullable:"true" doc:"The provider's signing secret. It is taken when the source is made, and never written."`
	Rule   strictjson.Field[resource.RuleBody] `json:"rule,omitzero" doc:"What its events mean; null is no rule. Left out: it stays as it is."`
	Paused *bool                               `json:"paused,omitempty" nullable:"true" doc:"Whether it holds what comes in. Left out: it stays as it is, and a new one is not."`
}

// ConfiguredEndpointBody is an endpoint.
type ConfiguredEndpointBody struct {
	resource.EndpointBody

	Kind   *string `json:"kind,omitempty" nullable:"true" enum:"http,listen" example:"http" doc:"How it gets its deliveries; left out: http. It stays what it is where the endpoint is there already."`
	Secret *string `json:"secret,omitempty" nullable:"true" doc:"A signing secret of your own. It is taken when the endpoint is made, and never written."`
	Paused *bool   `json:"paused,omitempty" nullable:"true" doc:"Whether a person has paused it. One that Rowlock disabled is not, and stays disabled until it is resumed. Left out: it stays as it is, and a new one is not."`
}

// LeftOutBody says what of an object was left out.
type LeftOutBody struct {
	Kind   Kind     `json:"kind" enum:"source,endpoint"`
	UID    string   `json:"uid" example:"billing"`
	Fields []string `json:"fields" nullable:"false" example:"[\"headers.X-Api-Key\",\"auth\"]"`
}

// Kind is a kind of object.
type Kind string

// The kinds of objects.
const (
	KindEventType Kind = "event_type"
	KindSource    Kind = "source"
	KindEndpoint  Kind = "endpoint"
)

// received is a document as it came: its objects are judged one by one.
type received struct {
	Version    *int              `json:"version"`
	EventTypes []json.RawMessage `json:"event_types"`
	Sources    []json.RawMessage `json:"sources"`
	Endpoints  []json.RawMessage `json:"endpoints"`
	LeftOut    json.RawMessage   `json:"left_out"`
}
