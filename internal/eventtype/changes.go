package eventtype

import (
	"encoding/json"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Check tells what is wrong with the input of a new type, as Create would,
// without declaring one.
func (s *Service) Check(in Input) error {
	return in.fillNew(&gateway.EventType{OnDoubt: gateway.OnDoubtResend})
}

// Changes is what Update would change of a type: the input without what is as it
// asks for already, and the names of what is left. Errors:
// gateway.InvalidErrors, joined, as of Update.
func (s *Service) Changes(t gateway.EventType, in Input) (Input, []string, error) {
	after := t
	if err := in.applyTo(&after); err != nil {
		return in, nil, err
	}
	in.Name = nil
	if after.Description == t.Description {
		in.Description = nil
	}
	if gateway.SameJSON(after.Schema, t.Schema) {
		in.Schema = nil
	}
	if slices.EqualFunc(after.Examples, t.Examples, func(a, b json.RawMessage) bool { return gateway.SameJSON(a, b) }) {
		in.Examples = nil
	}
	if after.SingleFire == t.SingleFire {
		in.SingleFire = nil
	}
	if after.OnDoubt == t.OnDoubt {
		in.OnDoubt = nil
	}
	return in, in.names(), nil
}

// names are the fields that are given.
func (in Input) names() []string {
	names := in.given(gateway.EventType{})
	if in.SingleFire != nil || in.OnDoubt != nil {
		names = names[:len(names)-1] // what the audit log says of the two
	}
	if in.SingleFire != nil {
		names = append(names, "single_fire")
	}
	if in.OnDoubt != nil {
		names = append(names, "on_doubt")
	}
	return names
}
