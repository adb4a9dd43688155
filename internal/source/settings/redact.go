package settings

import (
	"encoding/json"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// redactedJSON stands for a value that its reader may not see.
var redactedJSON = `"` + gateway.Redacted + `"`

// Redact returns settings as one may read them who may not change them: what
// the kind keeps private is left out.
func Redact(kind string, raw []byte) []byte {
	scheme, ok := signature.Lookup(kind)
	if !ok {
		return raw
	}
	private := map[string]bool{}
	for _, s := range scheme.Info().Settings {
		private[s.Name] = s.Private
	}
	members := membersOrNone(raw)
	changed := false
	for i := range members {
		if private[members[i].name] {
			members[i].value, changed = json.RawMessage(redactedJSON), true
		}
	}
	if !changed {
		return raw
	}
	return objectOf(members)
}
