package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/docs"
	"github.com/rowlock/rowlock/web/page"
)

// Every example is on the page of an endpoint that signs so, whole, and can be
// copied.
func TestEndpointPageShowsTheExamples(t *testing.T) {
	t.Parallel()
	for version, names := range map[gateway.SignatureVersion][]string{
		gateway.SignatureHMAC:    {"library.go", "verify.go", "library.mjs", "verify.mjs", "library.py", "verify.py", "verify.php", "verify.rb", "Verify.java"},
		gateway.SignatureEd25519: {"verify_key.go", "verify_key.mjs", "verify_key.py", "verify_key.php", "verify_key.rb", "VerifyKey.java"},
	} {
		v := endpointView()
		v.Endpoint.Signature = version
		doc := drawn(t, page.EndpointPage(v))
		wantNumber(t, doc, `#verify [role="tab"]`, 6)
		wantNumber(t, doc, `#verify [role="tabpanel"]`, 6)
		var copied []string
		for _, n := range doc.Find("#verify [data-copy]").EachIter() {
			copied = append(copied, strings.TrimSpace(n.AttrOr("data-copy", "")))
		}
		for _, name := range names {
			if text := docs.Example("verifying", name).Text; !slices.Contains(copied, text) {
				t.Errorf("%s cannot be copied", name)
			}
		}
	}
}
