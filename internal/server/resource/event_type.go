package resource

import (
	"encoding/json"

	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api/strictjson"
)

// EventTypeBody describes what can be changed of a type. Null sets a field back
// to what it is when left out at the making.
type EventTypeBody struct {
	Description strictjson.Field[string]            `json:"description,omitzero" nullable:"true" maxLength:"2000" example:"An order was placed."`
	Schema      json.RawMessage                     `json:"schema,omitempty" doc:"A JSON Schema of draft 2020-12, or of the one that its $schema names, of at most 64 KiB. References lead nowhere but into itself, patterns are RE2, and formats are not checked. Published events that break it are refused; what providers send is not asked. Left out, or null: none."`
	Examples    strictjson.Field[[]json.RawMessage] `json:"examples,omitzero" nullable:"true" maxItems:"20" doc:"Data of such events, which satisfies the schema; at most 64 KiB in all."`
	SingleFire  strictjson.Field[bool]              `json:"single_fire,omitzero" nullable:"true" doc:"An endpoint gets one event of this type for each subject, so each needs a subject. Left out: false."`
	OnDoubt     strictjson.Field[string]            `json:"on_doubt,omitzero" nullable:"true" enum:"resend,hold" doc:"When nobody knows whether a single-fire event was received: resend it under the same Idempotency-Key, or hold it for a person. Left out: resend."`
}

// Input is what the use case takes.
func (b EventTypeBody) Input(name *string) eventtype.Input {
	in := eventtype.Input{
		Name: name, Description: given(b.Description, ""), Examples: given(b.Examples, nil),
		SingleFire: given(b.SingleFire, false), OnDoubt: (*gateway.OnDoubt)(given(b.OnDoubt, string(gateway.OnDoubtResend))),
	}
	if b.Schema != nil {
		in.Schema = &b.Schema
	}
	return in
}
