package signature

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func stripeMAC(secret, at, body string) string {
	return hex.EncodeToString(plainMAC(hashSHA256.newHash, secret, at+"."+body))
}

func TestStripeHeader(t *testing.T) {
	t.Parallel()
	const at, body = "1760000000", `{}`
	good := stripeMAC("whsec_a", at, body)
	bad := strings.Repeat("0", 64)
	cases := map[string]struct {
		header string
		code   string // "" is accepted
	}{
		"one v1":                  {"t=" + at + ",v1=" + good, ""},
		"test mode v0 beside":     {"t=" + at + ",v1=" + good + ",v0=" + bad, ""},
		"second v1 is ours":       {"t=" + at + ",v1=" + bad + ",v1=" + good, ""},
		"unreadable v1 beside":    {"t=" + at + ",v1=zz,v1=" + good, ""},
		"junk beside":             {"t=" + at + ",junk,v1=" + good, ""},
		"time last":               {"v1=" + good + ",t=" + at, ""},
		"right digest as v0":      {"t=" + at + ",v0=" + good, CodeMismatch},
		"label in another case":   {"t=" + at + ",V1=" + good, CodeMismatch},
		"time alone":              {"t=" + at, CodeMismatch},
		"no time":                 {"v1=" + good, CodeMalformed},
		"empty time":              {"t=,v1=" + good, CodeMalformed},
		"two times":               {"t=1," + "t=" + at + ",v1=" + good, CodeMalformed},
		"signed time":             {"t=+" + at + ",v1=" + good, CodeMalformed},
		"time with a space":       {"t= " + at + ",v1=" + good, CodeMalformed},
		"time in hex":             {"t=0x68e77800,v1=" + good, CodeMalformed},
		"negative time":           {"t=-1,v1=" + stripeMAC("whsec_a", "-1", body), CodeMalformed},
		"endless time":            {"t=" + strings.Repeat("9", 40) + ",v1=" + good, CodeMalformed},
		"largest time, signed":    {"t=999999999999999999,v1=" + stripeMAC("whsec_a", "999999999999999999", body), CodeTimestamp},
		"leading zero, re-signed": {"t=01760000000,v1=" + stripeMAC("whsec_a", "01760000000", body), ""},
		"leading zero, added":     {"t=01760000000,v1=" + good, CodeMismatch},
		"thirty-three values":     {"t=" + at + strings.Repeat(",v1="+bad, 31) + ",v1=" + good, CodeMalformed},
		"thirty-two values":       {"t=" + at + strings.Repeat(",v1="+bad, 30) + ",v1=" + good, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Request{Header: http.Header{"Stripe-Signature": {c.header}}, Body: []byte(body), Now: testNow}
			_, err := stripe.Verify(r, Settings{}, liveSecrets("whsec_a"))
			if c.code != "" {
				_ = wantRefusal(t, err, c.code, "whsec_a", good)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStripeEvent(t *testing.T) {
	t.Parallel()
	cases := map[string]Identity{
		`{"id":"evt_1","type":"invoice.paid"}`:                     {ID: "evt_1", Key: "evt_1", Type: "invoice.paid"},
		`{"type":"invoice.paid"}`:                                  {Type: "invoice.paid"},
		`{"id":17,"type":17}`:                                      {ID: "17", Key: "17", Type: "17"},
		`{"id":9007199254740993,"type":null}`:                      {ID: "9007199254740993", Key: "9007199254740993"},
		`{"id":1.5,"type":"not,a type"}`:                           {},
		`{"data":{"id":"evt_1","type":"a"}}`:                       {},
		`{"ID":"evt_1","Type":"a"}`:                                {},
		`{"id":"first","id":"last","type":"a","type":"b"}`:         {ID: "last", Key: "last", Type: "b"},
		`[{"id":"evt_1","type":"a"}]`:                              {},
		`not json`:                                                 {},
		`{"id":"evt_1","type":"a"`:                                 {},
		`{"id":"evt_1","type":"rowlock.endpoint.disabled"}`:        {ID: "evt_1", Key: "evt_1"},
		"{\"id\":\"evt_1\",\"type\":\"a\",\"n\":\"\xe9\"}":         {}, // latin-1
		`{"id":"evt_1","type":"` + strings.Repeat("a", 300) + `"}`: {ID: "evt_1", Key: "evt_1"},
	}
	for body, want := range cases {
		s := senderOf(t, "stripe")
		verified, err := s.verify(s.signed(t, body), s.secret)
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if diff := cmp.Diff([]Identity{want}, verified.Events); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}
