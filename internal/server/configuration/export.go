package configuration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/resource"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/source/settings"
	"github.com/rowlock/rowlock/internal/store"
)

// Service writes and reads configurations.
type Service struct {
	// Store is for reads.
	Store      *store.Store
	Endpoints  *endpoint.Service
	Sources    *source.Service
	EventTypes *eventtype.Service
	Accounts   *account.Service
}

// pageSize is how many objects are read at once.
const pageSize = 250

// Export is what an account is set up with. Each list is what it was at one
// moment, oldest first; event types are in the order of their names. It is noted
// in the audit log who has got it.
func (s Service) Export(ctx context.Context, account gateway.AccountID, actor gateway.Actor) (ConfigurationBody, error) {
	doc := ConfigurationBody{Version: Version, EventTypes: []ConfiguredTypeBody{}, Sources: []ConfiguredSourceBody{}, Endpoints: []ConfiguredEndpointBody{}}
	for _, add := range []func(context.Context, gateway.AccountID, *ConfigurationBody) error{s.addTypes, s.addSources, s.addEndpoints} {
		if err := add(ctx, account, &doc); err != nil {
			return ConfigurationBody{}, err
		}
	}
	if err := s.Accounts.NoteExport(ctx, account, actor, "configuration", fmt.Sprintf("%d event types, %d sources, %d endpoints", len(doc.EventTypes), len(doc.Sources), len(doc.Endpoints))); err != nil {
		return ConfigurationBody{}, err
	}
	return doc, nil
}

// JSON is the document as a file: indented, and expressions as they were
// written.
func (d ConfigurationBody) JSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return out.Bytes(), nil
}

func (s Service) addTypes(ctx context.Context, account gateway.AccountID, doc *ConfigurationBody) error {
	return s.eachType(ctx, account, func(t gateway.EventType) { doc.EventTypes = append(doc.EventTypes, typeBody(t)) })
}

func typeBody(t gateway.EventType) ConfiguredTypeBody {
	b := ConfiguredTypeBody{Name: &t.Name, EventTypeBody: resource.EventTypeBody{
		Description: strictjson.Of(t.Description), Schema: json.RawMessage("null"),
		Examples: strictjson.Of(append([]json.RawMessage{}, t.Examples...)), SingleFire: strictjson.Of(t.SingleFire), OnDoubt: strictjson.Of(string(t.OnDoubt)),
	}}
	if t.Schema != nil {
		b.Schema = t.Schema
	}
	return b
}

func (s Service) addSources(ctx context.Context, account gateway.AccountID, doc *ConfigurationBody) error {
	sources, err := all(func(p store.Page[gateway.SourceID]) ([]gateway.Source, error) {
		return s.Store.Sources(ctx, account, p)
	},
		func(one gateway.Source) gateway.SourceID { return one.ID })
	for _, one := range sources {
		if one.Kind == gateway.SourceKindAPI {
			continue // every account has it
		}
		body, private := sourceBody(one)
		doc.Sources = append(doc.Sources, body)
		doc.leaveOut(KindSource, body.UID.Value, private)
	}
	return err
}

func sourceBody(s gateway.Source) (b ConfiguredSourceBody, leftOut []string) {
	public, private := settings.Public(s.Kind, s.Settings)
	for _, name := range private {
		leftOut = append(leftOut, "settings."+name)
	}
	b = ConfiguredSourceBody{
		SourceBody: resource.SourceBody{Name: strictjson.Of(s.Name), UID: strictjson.Of(nameOf(s.UID, s.ID.String())), Settings: public},
		Kind:       &s.Kind, Rule: strictjson.Null[resource.RuleBody](), Paused: new(s.State == gateway.SourcePaused),
	}
	if r := s.Rule; r != nil {
		b.Rule = strictjson.Of(resource.RuleOf(*r))
	}
	return b, leftOut
}

func (s Service) addEndpoints(ctx context.Context, account gateway.AccountID, doc *ConfigurationBody) error {
	endpoints, err := s.allEndpoints(ctx, account)
	names := map[gateway.EndpointID]string{}
	for _, one := range endpoints {
		names[one.ID] = nameOf(one.UID, one.ID.String())
	}
	for _, one := range endpoints {
		body := endpointBody(one, names)
		doc.Endpoints = append(doc.Endpoints, body)
		var leftOut []string
		for _, name := range slices.Sorted(maps.Keys(gateway.DecodeHeaders(one.Headers))) {
			leftOut = append(leftOut, "headers."+name)
		}
		if one.Auth != gateway.AuthNone {
			leftOut = append(leftOut, "auth")
		}
		doc.leaveOut(KindEndpoint, body.UID.Value, leftOut)
	}
	return err
}

// endpointBody leaves out the values of all headers: which of them are secret
// nobody has said.
func endpointBody(e gateway.Endpoint, names map[gateway.EndpointID]string) ConfiguredEndpointBody {
	b := resource.EndpointBody{
		URL: strictjson.Of(e.URL), UID: strictjson.Of(names[e.ID]), Description: strictjson.Of(e.Description),
		EventTypes: strictjson.Of(append([]string{}, e.EventTypes...)), RetrySchedule: strictjson.Null[[]string](), Timeout: strictjson.Null[string](),
		MaxInFlight: strictjson.Of(e.MaxInFlight), StopOn: strictjson.Of(append([]int{}, e.StopOn...)), Filter: strictjson.Of(e.Filter),
		RateLimit: strictjson.Null[resource.RateLimitBody](), Failover: strictjson.Null[string](), Signature: strictjson.Of(string(e.Signature)),
	}
	if e.RetrySchedule != nil {
		waits := make([]string, len(e.RetrySchedule))
		for i, wait := range e.RetrySchedule {
			waits[i] = gateway.DurationText(wait)
		}
		b.RetrySchedule = strictjson.Of(waits)
	}
	if e.Timeout != 0 {
		b.Timeout = strictjson.Of(gateway.DurationText(e.Timeout))
	}
	if limit := resource.RateLimit(e.RatePerSecond); limit != nil {
		b.RateLimit = strictjson.Of(*limit)
	}
	if e.Failover != nil && names[*e.Failover] != "" {
		b.Failover = strictjson.Of(names[*e.Failover])
	}
	if e.Kind == gateway.EndpointListen {
		b.URL = strictjson.Field[string]{}
	}
	return ConfiguredEndpointBody{EndpointBody: b, Kind: (*string)(&e.Kind), Paused: new(e.State == gateway.EndpointPaused)}
}

func (d *ConfigurationBody) leaveOut(kind Kind, uid string, fields []string) {
	if len(fields) > 0 {
		d.LeftOut = append(d.LeftOut, LeftOutBody{Kind: kind, UID: uid, Fields: fields})
	}
}

// all reads a list to its end and turns it around: the oldest comes first.
func all[I gateway.AnyID, T any](read func(store.Page[I]) ([]T, error), id func(T) I) ([]T, error) {
	var list []T
	p := store.Page[I]{Limit: pageSize}
	for {
		part, err := read(p)
		if err != nil {
			return nil, err
		}
		list = append(list, part...)
		if len(part) < pageSize {
			slices.Reverse(list)
			return list, nil
		}
		p.Before = new(id(part[len(part)-1]))
	}
}
