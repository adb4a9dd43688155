package settings

import (
	"encoding/json"

	"github.com/rowlock/rowlock/internal/signature"
)

// Public returns settings without those that the kind keeps private, and the
// names of these. Of a kind that this version does not know, nothing is shown.
func Public(kind string, raw []byte) (public json.RawMessage, private []string) {
	isPrivate := privateOf(kind)
	if isPrivate == nil {
		return nothing, nil
	}
	var kept []member
	for _, m := range membersOrNone(raw) {
		if isPrivate[m.name] && string(m.value) != "null" {
			private = append(private, m.name)
			continue
		}
		kept = append(kept, m)
	}
	if public = objectOf(kept); public == nil {
		public = nothing
	}
	return public, private
}

// WithPrivate adds to settings that were chosen those private ones that a source
// has and the choice does not name.
func WithPrivate(kind string, chosen, present []byte) json.RawMessage {
	members, err := membersOf(chosen)
	if err != nil {
		return chosen // which is refused with what is wrong
	}
	named := map[string]bool{}
	for _, m := range members {
		named[m.name] = true
	}
	isPrivate := privateOf(kind)
	added := false
	for _, m := range membersOrNone(present) {
		if isPrivate[m.name] && !named[m.name] {
			members, added = append(members, m), true
		}
	}
	if !added {
		return chosen
	}
	return objectOf(members)
}

// privateOf are the settings that a kind keeps private; nil for one that this
// version does not know.
func privateOf(kind string) map[string]bool {
	scheme, ok := signature.Lookup(kind)
	if !ok {
		return nil
	}
	private := map[string]bool{}
	for _, s := range scheme.Info().Settings {
		private[s.Name] = s.Private
	}
	return private
}
