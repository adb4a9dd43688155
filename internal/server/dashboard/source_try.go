package dashboard

import (
	"fmt"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// tryScript is lines for a shell that send one event to a source; empty where
// they would have to be signed: the test console does that.
func tryScript(kind page.SourceKind, url string) string {
	switch {
	case kind.Kind == gateway.SourceKindAPI:
		return fmt.Sprintf(tryAPI, shellWord(url))
	case kind.Secret == "":
		return fmt.Sprintf(tryUnsigned, shellWord(url))
	default:
		return ""
	}
}

const (
	tryAPI = `ROWLOCK_API_KEY='paste an API key here'
curl -sS %s \
  -H "Authorization: Bearer $ROWLOCK_API_KEY" \
  -H 'Content-Type: application/json' \
  --data-binary '{"type":"order.created","data":{"id":"ord_1"}}'
`
	tryUnsigned = `curl -sS %s \
  -H 'Content-Type: application/json' \
  --data-binary '{"hello":"from a terminal"}'
`
)
