package source

import (
	"reflect"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/source/settings"
)

// Check tells what is wrong with the input of a new source, as Create would,
// without making one.
func (s *Service) Check(in Input) error {
	_, err := in.fillNew(&gateway.Source{})
	return err
}

// Changes is what Update would change of a source: the input without what is as
// it asks for already, and the names of what is left. Private settings that are
// left out stay as they are, so that settings can come from somebody who may not
// see them. Errors: gateway.InvalidErrors, joined, as of Update.
func (s *Service) Changes(source gateway.Source, in Input) (Input, []string, error) {
	if in.Settings != nil {
		in.Settings = settings.WithPrivate(source.Kind, in.Settings, source.Settings)
	}
	after := source
	if err := in.applyTo(&after); err != nil {
		return in, nil, err
	}
	if after.Name == source.Name {
		in.Name = nil
	}
	if after.UID == source.UID || after.UID != nil && source.UID != nil && *after.UID == *source.UID {
		in.UID = nil
	}
	if gateway.SameJSON(after.Settings, source.Settings) {
		in.Settings = nil
	}
	return in, in.given(), nil
}

// SameRule tells that two rules say the same; nil is no rule.
func SameRule(a, b *gateway.Rule) bool {
	if a == nil || b == nil {
		return a == b
	}
	one, other := *a, *b
	listed := slices.Equal(one.Terminal, other.Terminal) && slices.Equal(one.Rank, other.Rank)
	one.Terminal, one.Rank, other.Terminal, other.Rank = nil, nil, nil, nil
	return listed && reflect.DeepEqual(one, other)
}
