package page_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

func TestSettingsInWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		page.SignatureText(gateway.SignatureHMAC):    "Shared secret (v1, HMAC-SHA256)",
		page.SignatureText(gateway.SignatureEd25519): "Key pair (v1a, Ed25519)",
		page.AuthText(gateway.AuthNone):              "",
		page.AuthText(gateway.AuthBasic):             "User name and password (basic)",
		page.AuthText(gateway.AuthBearer):            "Token (bearer)",
		page.RateText(0):                             "no limit",
		page.RateText(10_000):                        "at most 10,000 a second",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A public key is shown whole, to everybody; a secret stays hidden.
func TestEndpointPageShowsPublicKeys(t *testing.T) {
	t.Parallel()
	v := endpointView()
	v.Manages = false
	v.Endpoint.Signature = gateway.SignatureEd25519
	ends := endpointNow.Add(1)
	v.Secrets = []page.EndpointSecret{
		{ID: gateway.SecretID{2}, CreatedAt: endpointNow, Public: "whpk_AAAA"},
		{ID: gateway.SecretID{1}, CreatedAt: endpointNow, EndsAt: &ends, Replaced: endpointNow},
	}
	doc := drawn(t, page.EndpointPage(v))
	wantNumber(t, doc, `#secrets [data-copy="whpk_AAAA"]`, 1)
	wantNumber(t, doc, "#secrets [data-copy]", 1)
	wantNumber(t, doc, "#secrets form", 0)
	wantWords(t, doc, "#secrets", "Public key")
	wantWords(t, doc, "#secrets", "Requests carry a signature of each")
	v.Secrets = v.Secrets[:1]
	wantWords(t, drawn(t, page.EndpointPage(v)), "#secrets", "Rowlock keeps the private key to itself.")
}
