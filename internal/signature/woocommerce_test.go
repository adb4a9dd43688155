package signature

import (
	"net/http"
	"testing"
)

// TestWooCommercePing: only the exact form of the ping may come unsigned.
func TestWooCommercePing(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	cases := map[string]struct {
		method, media, body, signature string
		passes                         bool
	}{
		"ping":             {http.MethodPost, form, "webhook_id=142", "", true},
		"with a charset":   {http.MethodPost, form + "; charset=UTF-8", "webhook_id=142", "", true},
		"head":             {http.MethodHead, "", "", "", true},
		"as json":          {http.MethodPost, "application/json", "webhook_id=142", "", false},
		"no number":        {http.MethodPost, form, "webhook_id=", "", false},
		"not a number":     {http.MethodPost, form, "webhook_id=1%30", "", false},
		"a line more":      {http.MethodPost, form, "webhook_id=142\n", "", false},
		"wrongly signed":   {http.MethodPost, form, "webhook_id=142", "AAAA", false},
		"another method":   {http.MethodPut, "application/json", "{}", "", false},
		"something before": {http.MethodPost, form, "x=1&webhook_id=142", "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Request{Method: c.method, Header: http.Header{}, Body: []byte(c.body), Now: testNow}
			r.Header.Set("Content-Type", c.media)
			if c.signature != "" {
				r.Header.Set(wooSignature, c.signature)
			}
			verified, err := wooCommerce.Verify(r, Settings{}, liveSecrets("s3cret"))
			if !c.passes {
				_ = wantRefusal(t, err, "", "s3cret")
				return
			}
			if err != nil || verified.Handshake == nil || verified.Handshake.Answer.Status != http.StatusOK || len(verified.Events) > 0 {
				t.Errorf("got %+v, %v", verified, err)
			}
		})
	}
}

// TestWooCommerceSignedPing: a ping that is signed is one all the same.
func TestWooCommerceSignedPing(t *testing.T) {
	t.Parallel()
	r := Request{Method: http.MethodPost, Header: http.Header{}, Body: []byte("webhook_id=142"), Now: testNow}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := wooCommerce.Sign(&r, Settings{}, "s3cret"); err != nil {
		t.Fatal(err)
	}
	verified, err := wooCommerce.Verify(r, Settings{}, liveSecrets("s3cret"))
	if err != nil || verified.Handshake == nil || len(verified.Events) > 0 {
		t.Errorf("got %+v, %v", verified, err)
	}
	_, err = wooCommerce.Verify(r, Settings{}, liveSecrets("0ther"))
	_ = wantRefusal(t, err, CodeMismatch, "0ther")
}
