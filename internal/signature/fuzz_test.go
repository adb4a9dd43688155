package signature

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
)

var allCodes = []string{CodeMissing, CodeMalformed, CodeTimestamp, CodeMismatch}

// fuzzVerify throws requests at one sender's scheme. Nothing in them can be
// signed with the secret, which no seed holds: every one must be refused.
func fuzzVerify(f *testing.F, s sender) {
	f.Helper()
	secret := "unguessable-9f1c7a"
	switch s.name {
	case "standard_webhooks v1":
		secret = NewSecret()
	case "standard_webhooks v1a":
		secret = publicOf(ed25519B)
	}
	seed := s.signed(`{"id":"evt_1","type":"a"}`) // signed with another secret
	f.Add(seed.Header.Get(s.header), unixText(testNow), "msg_1", seed.Body)
	f.Add("", "", "", []byte(nil))
	f.Add("t=1,v1=é,v0=,,=", "١", "a.b", []byte("\xff\x00"))
	f.Add("v1,v1a, v2 v1,AAAA v1a,====", "-1", "\n", []byte("[[[["))
	f.Fuzz(func(t *testing.T, header, at, id string, body []byte) {
		r := Request{URL: "https://x", Body: body, Now: testNow, Header: http.Header{}}
		for _, name := range []string{"Webhook-Timestamp", "X-Time"} {
			r.Header.Set(name, at)
		}
		for _, name := range []string{"Webhook-Id", "X-Id", "X-Github-Delivery", "X-Github-Event", "X-Type"} {
			r.Header.Set(name, id)
		}
		r.Header.Set(s.header, header)
		_, err := s.verify(r, secret)
		var refusal *Refusal
		if !errors.As(err, &refusal) || !slices.Contains(allCodes, refusal.Code) || refusal.Detail == "" {
			t.Fatalf("got %v", err)
		}
	})
}

func FuzzVerifyGitHub(f *testing.F)            { fuzzVerify(f, senders()[0]) }
func FuzzVerifyStripe(f *testing.F)            { fuzzVerify(f, senders()[1]) }
func FuzzVerifyStandardWebhooks(f *testing.F)  { fuzzVerify(f, senders()[2]) }
func FuzzVerifyStandardWebhooksA(f *testing.F) { fuzzVerify(f, senders()[3]) }
func FuzzVerifyHMAC(f *testing.F)              { fuzzVerify(f, hmacSenders()[2]) }

// FuzzVerifySigned signs any body as each sender would and expects it to be
// taken, and refused once a byte is added.
func FuzzVerifySigned(f *testing.F) {
	f.Add(`{"id":"evt_1","type":"a"}`)
	f.Add("")
	f.Add("\xff\x00\ufeff{")
	f.Fuzz(func(t *testing.T, body string) {
		for _, s := range senders() {
			r := s.signed(body)
			if _, err := s.verify(r, s.secret); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			r.Body = append(r.Body, 'x')
			if _, err := s.verify(r, s.secret); err == nil {
				t.Fatalf("%s takes an altered body", s.name)
			}
		}
	})
}

// FuzzHMACSettings: settings are refused or make a plan that can be used.
func FuzzHMACSettings(f *testing.F) {
	for _, s := range hmacSenders() {
		f.Add(s.settings)
	}
	f.Add(`{"header":null,"signed":"{body"}`)
	f.Add(`{"a":1,"a":2}`)
	f.Fuzz(func(t *testing.T, settings string) {
		raw := json.RawMessage(settings)
		plan, err := planHMAC(raw)
		if err != nil {
			return
		}
		if !json.Valid(raw) || plan.algorithm.newHash == nil || plan.decode == nil || !plan.signed.has(holeBody) || !isHeaderName(plan.Header) {
			t.Fatalf("%q makes the plan %+v", settings, plan)
		}
	})
}

// FuzzParseTemplate: a template that is taken says again what it was.
func FuzzParseTemplate(f *testing.F) {
	for _, seed := range []string{"{body}", "v0:{timestamp}:{body}", "{", "}", "{{body}}", "{id}.{timestamp}.{body}", "{url}{body}é\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := parseTemplate(text)
		if err != nil {
			return
		}
		again := ""
		for _, part := range parsed {
			again += string(part.literal)
			if part.hole != "" {
				again += "{" + part.hole + "}"
			}
		}
		if again != text {
			t.Fatalf("%q became %q", text, again)
		}
	})
}

// FuzzParseSigningKey: a secret that is taken has one canonical form with the
// same key. Inbound takes it too, of an Ed25519 key the public half.
func FuzzParseSigningKey(f *testing.F) {
	private := SigningKey{private: ed25519A}.Secret()
	for _, seed := range []string{keyA, keyB, " " + keyA, "whsec_", "whsec_AA==", "v1," + keyA, "whpk_AA", "\ufeff", private, private[:50], "whsk_"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := ParseSigningKey(text)
		if err != nil {
			return
		}
		verifies := key.Public()
		if verifies == "" {
			verifies = text
		}
		if _, err := (standardWebhooks{}).CheckSecret(verifies); err != nil {
			t.Fatalf("outbound takes %q, inbound says %v", text, err)
		}
		if again, err := ParseSigningKey(key.Secret()); err != nil || again.Secret() != key.Secret() || again.Public() != key.Public() {
			t.Fatalf("%q became another key", text)
		}
	})
}

// FuzzCheckSecret: no scheme panics over a paste, and what it stores is stable.
func FuzzCheckSecret(f *testing.F) {
	for _, seed := range []string{"", " ", "s3cret\n", keyA, "whpk_AA", "whsk_AA", "sk_test", "\xff", "a\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pasted string) {
		for _, kind := range Kinds() {
			scheme, _ := Lookup(kind)
			stored, err := scheme.CheckSecret(pasted)
			if err != nil {
				continue
			}
			if stored == "" && scheme.NeedsSecret() {
				t.Fatalf("%s stores an empty secret", kind)
			}
			if again, err := scheme.CheckSecret(stored); err != nil || again != stored {
				t.Fatalf("%s stores %q, then %q, %v", kind, stored, again, err)
			}
		}
	})
}

// FuzzTopLevel: ids come from any bytes without a panic.
func FuzzTopLevel(f *testing.F) {
	for _, seed := range []string{`{"id":"a"}`, `{"id":"\ud83e"}`, `{"id":-0}`, "\xff", `{"id":"`, "[]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		event := stripeEvent(body)
		if eventType(event.Type) != event.Type {
			t.Fatalf("type %q is not allowed", event.Type)
		}
		if event.Key != "" && !json.Valid(body) {
			t.Fatalf("key %q from a body that is not JSON", event.Key)
		}
	})
}
