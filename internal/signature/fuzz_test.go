package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// fuzzKind names the one kind that a run is about; empty for all of them.
// `make fuzz` runs each for itself.
const fuzzKind = "ROWLOCK_FUZZ_KIND"

// checkFuzzKind fails a run about a kind that is none: it would find nothing.
func checkFuzzKind(f *testing.F) string {
	f.Helper()
	kind := os.Getenv(fuzzKind)
	if _, ok := Lookup(kind); !ok && kind != "" {
		f.Fatalf("%s is %q, which is no kind", fuzzKind, kind)
	}
	return kind
}

// fuzzed are the senders that a run is about.
func fuzzed(f *testing.F) []sender {
	f.Helper()
	kind := checkFuzzKind(f)
	var list []sender
	for _, s := range senders(f) {
		if kind == "" || kind == s.Info().Kind {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		f.Skip("nothing is proven by this kind")
	}
	return list
}

// FuzzVerify throws requests at a verifier: whatever header, time, id and body
// they have, those that were not signed with the secret are refused, those that
// were are taken, and refused again once a bit of them has changed.
func FuzzVerify(f *testing.F) {
	list := fuzzed(f)
	for i, s := range list {
		r := s.sampled(f)
		f.Add(uint8(i), r.Header.Get(s.header(f)), "1760000000", r.Body, uint32(17))
		f.Add(uint8(i), "t=1,v1=é,v0=,,=", "١", []byte("\xff\x00"), uint32(0))
		f.Add(uint8(i), "v1,v1a, v2 v1,AAAA v1a,====", "-1", []byte("[[[["), uint32(9))
		f.Add(uint8(i), "", "", []byte(nil), uint32(0))
	}
	f.Fuzz(func(t *testing.T, which uint8, header, at string, body []byte, flip uint32) {
		s := list[int(which)%len(list)]
		refusesForged(t, s, header, at, body)
		if !s.Info().BodyOpen {
			refusesFlipped(t, s, body, flip)
		}
	})
}

// refusesForged sends a request that nobody signed with the secret.
func refusesForged(t *testing.T, s sender, header, at string, body []byte) {
	t.Helper()
	r := s.sampled(t)
	signature := s.header(t)
	for name := range r.Header {
		switch {
		case name == signature:
			r.Header.Set(name, header)
		case strings.Contains(strings.ToLower(name), "time"):
			r.Header.Set(name, at)
		}
	}
	r.Body = body
	verified, err := s.verify(r, s.other)
	if err == nil && verified.Handshake != nil && len(verified.Events) == 0 {
		return // what may come unsigned is no event
	}
	if refusal, ok := errors.AsType[*Refusal](err); !ok || !slices.Contains(allCodes, refusal.Code) || refusal.Detail == "" {
		t.Fatalf("%s: got %v", s.name, err)
	}
}

// refusesFlipped signs a body, and changes one bit of it.
func refusesFlipped(t *testing.T, s sender, body []byte, flip uint32) {
	t.Helper()
	r := s.signed(t, string(body))
	if _, err := s.verify(r, s.secret); err != nil && !timeIsMissing(err) && !timeIsOff(err) {
		t.Fatalf("%s: %v", s.name, err)
	}
	if len(r.Body) == 0 {
		return
	}
	before := bytes.Clone(r.Body)
	r.Body[int(flip/8)%len(r.Body)] ^= 1 << (flip % 8)
	verified, err := s.verify(r, s.secret)
	if err == nil && len(verified.Events) > 0 && !sameForm(r, before) {
		t.Fatalf("%s takes an altered body", s.name)
	}
}

// timeIsOff tells that a request was refused for the time that its body holds,
// which is said only of a signature that is right.
func timeIsOff(err error) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	return ok && refusal.Code == CodeTimestamp
}

// FuzzEvents reads ids, keys and types out of any bytes.
func FuzzEvents(f *testing.F) {
	kind := checkFuzzKind(f)
	var list []*provider
	for _, scheme := range schemes {
		if p, ok := scheme.(*provider); ok && (kind == "" || kind == p.info.Kind) {
			list = append(list, p)
			r := p.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
			f.Add(uint8(len(list)-1), r.Header.Get("Content-Type"), r.Body)
		}
	}
	if len(list) == 0 {
		f.Skip("this kind reads no more than headers")
	}
	for _, seed := range []string{`{"id":"a"}`, `[{"id":"\ud83e"},{"id":1e400}]`, `{"id":-0,"events":[[],null]}`, "\xff", `{"id":"`, "[]", "payload=%7b%7d&a=%zz"} {
		f.Add(uint8(0), "application/x-www-form-urlencoded", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, which uint8, media string, body []byte) {
		p := list[int(which)%len(list)]
		r := p.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
		r.Header.Set("Content-Type", media)
		r.Body = body
		before := bytes.Clone(body)
		events := reading(p).read(newInput(r))
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		for _, event := range events {
			if eventType(event.Type) != event.Type {
				t.Fatalf("type %q is not allowed", event.Type)
			}
			if event.Body != nil && !json.Valid(event.Body) {
				t.Fatalf("%q is no JSON, of %q", event.Body, body)
			}
		}
	})
}

// reading is how a kind reads its events without settings; of one that needs some
// it finds nothing.
func reading(p *provider) reader {
	planned, err := p.planned(nil)
	if err != nil {
		return reader{}
	}
	return planned.events
}

// FuzzHMACSettings: settings are refused or make a plan that can be used.
func FuzzHMACSettings(f *testing.F) {
	for _, settings := range settingsFor(f, "hmac") {
		f.Add(string(settings))
	}
	f.Add(`{"header":null,"signed":"{body"}`)
	f.Add(`{"a":1,"a":2}`)
	f.Fuzz(func(t *testing.T, settings string) {
		raw := json.RawMessage(settings)
		plan, err := planHMAC(raw)
		if err != nil {
			return
		}
		if !json.Valid(raw) || plan.proof.algorithm.newHash == nil || plan.proof.encoding.decode == nil || !plan.proof.signed.has(holeBody) || !isHeaderName(plan.Header) {
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
	private := NewSigningKey(gateway.SignatureEd25519).Secret()
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
		if _, err := standardWebhooks.CheckSecret(verifies); err != nil {
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
			if stored == "" && scheme.Info().NeedsSecret() {
				t.Fatalf("%s stores an empty secret", kind)
			}
			if again, err := scheme.CheckSecret(stored); err != nil || again != stored {
				t.Fatalf("%s stores %q, then %q, %v", kind, stored, again, err)
			}
		}
	})
}
