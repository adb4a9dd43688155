package receiver

import (
	"cmp"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Published examples of the Standard Webhooks libraries: one message under a
// shared secret and under an Ed25519 key.
const (
	exampleSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	examplePublic = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="
	exampleID     = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	exampleStamp  = "1614265330"
	exampleBody   = `{"test": 2432232314}`
	exampleV1     = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	exampleV1a    = "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="
	otherV1       = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
)

var exampleTime = time.Unix(1614265330, 0)

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		secret string            // empty: exampleSecret
		header map[string]string // replaces; empty text: absent
		body   string            // empty: exampleBody
		later  time.Duration     // now, seen from the timestamp
		want   verdict
	}{
		"published":                {want: verified},
		"secret without prefix":    {secret: strings.TrimPrefix(exampleSecret, "whsec_"), want: verified},
		"secret pasted":            {secret: " " + exampleSecret + "\r\n", want: verified},
		"one of several":           {header: map[string]string{"Webhook-Signature": otherV1 + " v2,x " + exampleV1}, want: verified},
		"Ed25519":                  {secret: examplePublic, header: map[string]string{"Webhook-Signature": exampleV1a}, want: verified},
		"both, by the secret":      {header: map[string]string{"Webhook-Signature": exampleV1a + " " + exampleV1}, want: verified},
		"both, by the public key":  {secret: examplePublic, header: map[string]string{"Webhook-Signature": exampleV1 + " " + exampleV1a}, want: verified},
		"HMAC, for the public key": {secret: examplePublic, want: mismatch},
		"at the edge, late":        {later: tolerance, want: verified},
		"at the edge, early":       {later: -tolerance, want: verified},
		"too late":                 {later: tolerance + time.Second, want: wrongTime},
		"too early":                {later: -tolerance - time.Second, want: wrongTime},
		"other body":               {body: exampleBody + "\n", want: mismatch},
		"other id":                 {header: map[string]string{"Webhook-Id": exampleID + "x"}, want: mismatch},
		"other time":               {header: map[string]string{"Webhook-Timestamp": "1614265331"}, want: mismatch},
		"time beyond durations":    {header: map[string]string{"Webhook-Timestamp": "9223372036854775807"}, want: mismatch},
		"time that is none":        {header: map[string]string{"Webhook-Timestamp": "hello"}, want: badTime},
		"other secret":             {header: map[string]string{"Webhook-Signature": otherV1}, want: mismatch},
		"right, of other version":  {header: map[string]string{"Webhook-Signature": "v2" + strings.TrimPrefix(exampleV1, "v1")}, want: mismatch},
		"Ed25519, for the secret":  {header: map[string]string{"Webhook-Signature": exampleV1a}, want: mismatch},
		"the start of a signature": {header: map[string]string{"Webhook-Signature": exampleV1[:11]}, want: mismatch},
		"no version":               {header: map[string]string{"Webhook-Signature": "garbage é"}, want: mismatch},
		"no id":                    {header: map[string]string{"Webhook-Id": ""}, want: incomplete},
		"no time":                  {header: map[string]string{"Webhook-Timestamp": ""}, want: incomplete},
		"no signature":             {header: map[string]string{"Webhook-Signature": ""}, want: incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := newVerifier(cmp.Or(tt.secret, exampleSecret))
			if err != nil {
				t.Fatal(err)
			}
			got := v.verify(exampleHeader(tt.header), []byte(cmp.Or(tt.body, exampleBody)), exampleTime.Add(tt.later))
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func exampleHeader(replace map[string]string) http.Header {
	fields := map[string]string{"Webhook-Id": exampleID, "Webhook-Timestamp": exampleStamp, "Webhook-Signature": exampleV1}
	maps.Copy(fields, replace)
	h := http.Header{}
	for name, value := range fields {
		if value != "" {
			h.Set(name, value)
		}
	}
	return h
}

func TestSecretsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"whsec_", "whsec_not base64!", "whpk_AAAA", "whpk_", "whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=", "hunter2!"} {
		v, err := newVerifier(secret)
		if err == nil {
			t.Errorf("%q was taken: %v", secret, v)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "not base64") {
			t.Errorf("the error holds the secret: %v", err)
		}
	}
}

func TestWithoutSecretNothingIsChecked(t *testing.T) {
	t.Parallel()
	v, err := newVerifier(" ")
	if err != nil {
		t.Fatal(err)
	}
	if got := v.verify(http.Header{}, nil, exampleTime); got != unchecked {
		t.Errorf("got %s, want %s", got, unchecked)
	}
}
