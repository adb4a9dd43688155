package settings

import (
	"encoding/json"

	"github.com/rowlock/rowlock/internal/gateway"
)

// redactedJSON stands for a value that its reader may not see.
var redactedJSON = `"` + gateway.Redacted + `"`

// nothing is what is shown of settings that cannot be read.
var nothing = []byte("{}")

// Redact returns settings as one may read them who may not change them: what
// the kind keeps private is left out. Of a kind that this version does not know,
// nothing is shown.
func Redact(kind string, raw []byte) []byte {
	private := privateOf(kind)
	members, err := membersOf(raw)
	if private == nil || err != nil {
		return nothing
	}
	changed := false
	for i, m := range members {
		if private[m.name] && string(m.value) != "null" {
			members[i].value, changed = json.RawMessage(redactedJSON), true
		}
	}
	if !changed {
		return raw
	}
	return objectOf(members)
}
