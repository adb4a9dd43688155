package signature

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// webhookRequest is signed by hand with keyA and both Ed25519 test keys.
func webhookRequest(body string) (r Request, v1, v1a string) {
	r = Request{Header: http.Header{}, Body: []byte(body), Now: testNow}
	signV1a(&r, string(ed25519A))
	v1a = r.Header.Get(headersWebhook.signature)
	signV1(&r, keyA)
	return r, r.Header.Get(headersWebhook.signature), v1a
}

func TestWebhookSignatureHeader(t *testing.T) {
	t.Parallel()
	r, v1, v1a := webhookRequest(`{"type":"a.b"}`)
	public := publicOf(ed25519A)
	zero := "v1," + b64(make([]byte, 32))
	zeroA := "v1a," + b64(make([]byte, 64))
	cases := map[string]struct {
		header string
		secret string
		code   string
	}{
		"v1":                          {v1, keyA, ""},
		"v1a":                         {v1a, public, ""},
		"both, HMAC key":              {v1a + " " + v1, keyA, ""},
		"both, public key":            {v1 + " " + v1a, public, ""},
		"ours is last":                {zero + " " + zero + " " + v1, keyA, ""},
		"ours is last, v1a":           {zeroA + " " + zeroA + " " + v1a, public, ""},
		"unknown version beside":      {"v2,abc " + v1, keyA, ""},
		"unreadable beside":           {"v1,*** " + v1, keyA, ""},
		"two spaces":                  {zero + "  " + v1, keyA, ""},
		"v1 only, public key":         {v1, public, CodeMismatch},
		"v1a only, HMAC key":          {v1a, keyA, CodeMismatch},
		"unknown version only":        {"v2" + v1[2:], keyA, CodeMismatch},
		"version in another case":     {"V1" + v1[2:], keyA, CodeMismatch},
		"no version":                  {v1[3:], keyA, CodeMalformed},
		"url-safe base64":             {strings.NewReplacer("+", "-", "/", "_").Replace("v1," + b64([]byte(strings.Repeat("\xff\xfe", 16)))), keyA, CodeMalformed},
		"loose bits in the last byte": {looseBits(v1), keyA, CodeMalformed},
		"line break inside":           {v1[:10] + "\n" + v1[11:], keyA, CodeMalformed},
		"thirty-three signatures":     {strings.Repeat(zeroA+" ", 32) + v1a, public, CodeMalformed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := r
			request.Header = r.Header.Clone()
			request.Header.Set(headersWebhook.signature, c.header)
			_, err := standardWebhooks.Verify(request, Settings{}, liveSecrets(c.secret))
			if c.code != "" {
				_ = wantRefusal(t, err, c.code, c.secret)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// looseBits changes bits of the last character that do not reach the digest.
func looseBits(v1 string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	last := len(v1) - 2
	return v1[:last] + string(alphabet[strings.IndexByte(alphabet, v1[last])^1]) + v1[last+1:]
}

func TestWebhookHeaders(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(http.Header)
		code   string
		header string
	}{
		"no id":         {func(h http.Header) { h.Del(headersWebhook.id) }, CodeMissing, headersWebhook.id},
		"empty id":      {func(h http.Header) { h.Set(headersWebhook.id, "") }, CodeMissing, headersWebhook.id},
		"two ids":       {func(h http.Header) { h.Add(headersWebhook.id, "msg_1") }, CodeMalformed, headersWebhook.id},
		"another id":    {func(h http.Header) { h.Set(headersWebhook.id, "msg_2") }, CodeMismatch, headersWebhook.signature},
		"no time":       {func(h http.Header) { h.Del(headersWebhook.timestamp) }, CodeMalformed, headersWebhook.timestamp},
		"two times":     {func(h http.Header) { h.Add(headersWebhook.timestamp, "1760000000") }, CodeMalformed, headersWebhook.timestamp},
		"another time":  {func(h http.Header) { h.Set(headersWebhook.timestamp, "1760000001") }, CodeMismatch, headersWebhook.signature},
		"time in words": {func(h http.Header) { h.Set(headersWebhook.timestamp, "now") }, CodeMalformed, headersWebhook.timestamp},
		"other digits":  {func(h http.Header) { h.Set(headersWebhook.timestamp, "١٧٦٠٠٠٠٠٠٠") }, CodeMalformed, headersWebhook.timestamp},
		"svix names": {func(h http.Header) {
			h["Svix-Signature"] = h[headersWebhook.signature]
			h.Del(headersWebhook.signature)
		}, CodeMissing, headersWebhook.signature},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, _ := webhookRequest(`{}`)
			c.change(r.Header)
			_, err := standardWebhooks.Verify(r, Settings{}, liveSecrets(keyA))
			if refusal := wantRefusal(t, err, c.code, keyA); refusal.Header != c.header {
				t.Errorf("header is %q, want %q", refusal.Header, c.header)
			}
		})
	}
}

// TestWebhookIDWithFullStop: the signature of one request must not fit another
// whose id, time and body are cut at another full stop.
func TestWebhookIDWithFullStop(t *testing.T) {
	t.Parallel()
	r, _, _ := webhookRequest("1760000001.{}")
	forged := r
	forged.Header = r.Header.Clone()
	forged.Header.Set(headersWebhook.id, "msg_1.1760000000")
	forged.Header.Set(headersWebhook.timestamp, "1760000001")
	forged.Body = []byte("{}")
	if _, err := standardWebhooks.Verify(r, Settings{}, liveSecrets(keyA)); err != nil {
		t.Fatal(err)
	}
	_, err := standardWebhooks.Verify(forged, Settings{}, liveSecrets(keyA))
	_ = wantRefusal(t, err, CodeMalformed)
}

func TestWebhookEvent(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]Identity{
		`{"type":"order.created","id":"other"}`: {ID: "msg_1", Key: "msg_1", Type: "order.created"},
		`{"type":7}`:                            {ID: "msg_1", Key: "msg_1", Type: "7"},
		`{"Type":"order.created"}`:              {ID: "msg_1", Key: "msg_1"},
		``:                                      {ID: "msg_1", Key: "msg_1"},
		`<xml/>`:                                {ID: "msg_1", Key: "msg_1"},
	} {
		r, _, _ := webhookRequest(body)
		verified, err := standardWebhooks.Verify(r, Settings{}, liveSecrets(keyA))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if diff := cmp.Diff([]Identity{want}, verified.Events); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

// TestWebhookMixedRotation rotates from an HMAC key to a public key.
func TestWebhookMixedRotation(t *testing.T) {
	t.Parallel()
	r, v1, v1a := webhookRequest(`{}`)
	secrets := liveSecrets(keyA, publicOf(ed25519A))
	for index, header := range []string{v1, v1a} {
		r.Header.Set(headersWebhook.signature, header)
		verified, err := standardWebhooks.Verify(r, Settings{}, secrets)
		if err != nil || verified.Secret != secretID(index) {
			t.Errorf("matched %v, error %v; want secret %d", verified.Secret, err, index)
		}
	}
}
