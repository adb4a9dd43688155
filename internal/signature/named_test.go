package signature

import (
	"encoding/json"
	"testing"
)

// TestIDsAreNoSecrets: an event's id and type are kept and shown, and so cannot
// come from a header that is a secret.
func TestIDsAreNoSecrets(t *testing.T) {
	t.Parallel()
	for settings, schemes := range map[string][]Scheme{
		`{"id_header":"authorization"}`:                                {basicAuth, bearer},
		`{"type_header":"Cookie"}`:                                     {basicAuth, bearer},
		`{"header":"X-Api-Key","type_header":"x-api-key"}`:             {bearer},
		`{"header":"X-Api-Key","id_header":"X-API-KEY"}`:               {bearer},
		`{"header":"X-Sig","id_header":"Authorization"}`:               {anyHMAC, anyEd25519, anyECDSA, bearer},
		`{"header":"X-Sig","type_header":"proxy-authorization"}`:       {anyHMAC, anyEd25519, anyECDSA, bearer},
		`{"header":"X-Sig","id_header":"Cookie","type_header":"X-Ty"}`: {anyHMAC, anyEd25519, anyECDSA, bearer},
	} {
		for _, scheme := range schemes {
			wantError(t, scheme.CheckSettings(json.RawMessage(settings)), "holds a secret")
		}
	}
	for settings, scheme := range map[string]Scheme{
		`{"header":"Authorization","id_header":"X-Id"}`:   bearer,
		`{"header":"Authorization","prefix":"HMAC "}`:     anyHMAC,
		`{"header":"X-Signature","type_header":"X-Type"}`: anyECDSA,
	} {
		if err := scheme.CheckSettings(json.RawMessage(settings)); err != nil {
			t.Errorf("%s: %v", settings, err)
		}
	}
}
