package accept_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// hookSecret is how Asana begins, and hookToken how Notion does.
func hookSecret(source gateway.Source, value string) accept.Incoming {
	return accept.Incoming{Token: source.Token, Method: http.MethodPost, Header: http.Header{"X-Hook-Secret": {value}}}
}

func hookToken(source gateway.Source, value string) accept.Incoming {
	return accept.Incoming{Token: source.Token, Method: http.MethodPost, Header: http.Header{}, Body: []byte(`{"verification_token":"` + value + `"}`)}
}

func (b bundle) waitingSource(t *testing.T, kind string) gateway.Source {
	t.Helper()
	return b.makeSource(t, gateway.Source{Kind: kind, CaptureUntil: new(b.clock.Now().Add(time.Hour))})
}

// Of twenty secrets that are sent at once to a source that waits for one, one
// is taken: who sent it is answered, and only what it signs is an event. The
// others are refused as anything unsigned is.
func TestASecretIsTakenOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	for kind, send := range map[string]func(gateway.Source, string) accept.Incoming{"asana": hookSecret, "notion": hookToken} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, accept.Limits{})
			source := b.waitingSource(t, kind)
			value := func(i int) string { return fmt.Sprintf("secret_of_somebody_%d", i) }
			all := atOnce(n, func(i int) (accept.Receipt, error) { return b.Service.Receive(t.Context(), send(source, value(i))) })
			wantOutcomes(t, all, 1, isRefused(signature.CodeMissing))
			live, err := b.store.SourceSecrets(t.Context(), b.account, source.ID)
			if err != nil || len(live) != 1 || !live[0].Captured {
				t.Fatalf("secrets %+v, %v; want one", live, err)
			}
			for i, one := range all {
				if one.err == nil && (live[0].Value != value(i) || !one.Handshake || one.Answer.Status != http.StatusOK || len(one.Events) > 0) {
					t.Errorf("%s was taken, and %s answered: %+v", live[0].Value, value(i), one)
				}
				if one.err == nil && kind == "asana" && one.Answer.Header["X-Hook-Secret"] != value(i) {
					t.Errorf("answered %+v", one.Answer)
				}
			}
			b.wantRows(t, rows{requests: n})
			if audited := b.count(t, `SELECT count(*) FROM audit_log WHERE action = 'source.secret.capture' AND object = $1`, source.ID.String()); audited != 1 {
				t.Errorf("audited %d times", audited)
			}
			// Its provider may not have heard the answer, and asks again.
			again, err := b.Service.Receive(t.Context(), send(source, live[0].Value))
			if err != nil || !again.Handshake {
				t.Errorf("again: %+v, %v", again, err)
			}
			wantNoSecrets(t, b.requests(t, source.ID), n+1)
			s := sender{source: source, secret: live[0].Value, b: b}
			s.scheme, _ = signature.Lookup(kind)
			if got, err := b.Service.Receive(t.Context(), s.signed(t, `{"id":"1","type":"page.created"}`)); err != nil || len(got.Events) != 1 {
				t.Errorf("signed with it: %+v, %v", got, err)
			}
		})
	}
}

// wantNoSecrets fails if what is kept of requests can be signed with.
func wantNoSecrets(t *testing.T, kept []gateway.Request, n int) {
	t.Helper()
	if len(kept) != n {
		t.Errorf("%d requests are kept, want %d", len(kept), n)
	}
	for _, request := range kept {
		all := string(request.Body.Headers) + string(request.Body.Data)
		if strings.Contains(all, "somebody") || !strings.Contains(all, gateway.Redacted) {
			t.Fatalf("kept is %q", all)
		}
	}
}

// Asana's secret is kept of no request, be it a greeting or one that is signed.
func TestAHookSecretBesideEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "asana"})
	in := s.signed(t, `{"events":[{"action":"changed"}]}`)
	in.Header.Set("X-Hook-Secret", "secret_of_somebody")
	got, err := b.Service.Receive(t.Context(), in)
	if err != nil || len(got.Events) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, body := b.event(t, got.Events[0].ID); gateway.DecodeHeaders(body.Headers).Get("X-Hook-Secret") != gateway.Redacted {
		t.Errorf("stored is %q", body.Headers)
	}
}

// The verify token that Meta shows to have an address checked is not kept, be it
// the right one or not.
func TestAVerifyTokenIsNotKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.makeSource(t, gateway.Source{Kind: "meta", Settings: []byte(`{"verify_token":"token_of_somebody"}`)})
	for i, token := range []string{"token_of_somebody", "another_of_somebody"} {
		in := accept.Incoming{
			Token: source.Token, Method: http.MethodGet, Header: http.Header{}, Query: "hub.mode=subscribe&hub.verify_token=" + token + "&hub.challenge=7",
		}
		got, err := b.Service.Receive(t.Context(), in)
		if got.Handshake != (i == 0) || (err == nil) != (i == 0) {
			t.Fatalf("%s: %+v, %v", token, got, err)
		}
		kept := b.requests(t, source.ID)
		if len(kept) != i+1 {
			t.Fatalf("%d requests are kept", len(kept))
		}
		if query := string(kept[0].Body.Query); query != "hub.mode=subscribe&hub.verify_token=[redacted]&hub.challenge=7" {
			t.Errorf("kept is %q", query)
		}
	}
}

// A secret that is written in another way than it reads is not kept either.
func TestAnEscapedSecretIsNotKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.waitingSource(t, "notion")
	in := hookToken(source, "x")
	in.Body = []byte(`{"verification_token":"secret_of_\u0073omebody"}`)
	got, err := b.Service.Receive(t.Context(), in)
	if err != nil || !got.Handshake {
		t.Fatalf("%+v, %v", got, err)
	}
	kept := b.requests(t, source.ID)
	if len(kept) != 1 || !bytes.Equal(kept[0].Body.Data, []byte(gateway.Redacted)) || kept[0].Cause != gateway.CauseHandshake || kept[0].Answered != http.StatusOK {
		t.Errorf("kept is %+v", kept)
	}
}

// A secret never takes the place of another, and none is taken too late, or
// beside as many as a source may have.
func TestSecretsThatAreNotTaken(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	full := b.waitingSource(t, "asana")
	for i := range gateway.MaxLiveSecrets {
		b.addSecret(t, full, fmt.Sprint(proof, i))
	}
	working := b.newSource(t, "asana", proof)
	late := b.makeSource(t, gateway.Source{Kind: "asana", CaptureUntil: new(b.clock.Now().Add(-time.Second))})
	for name, test := range map[string]struct {
		source  gateway.Source
		secrets int
	}{
		"full": {full, gateway.MaxLiveSecrets}, "not waiting": {working, 1}, "too late": {late, 0}, "of another kind": {b.newSource(t, "github", proof), 1},
	} {
		got, err := b.Service.Receive(t.Context(), hookSecret(test.source, "secret_of_somebody"))
		if !isRefused(signature.CodeMissing)(err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if live, err := b.store.SourceSecrets(t.Context(), b.account, test.source.ID); err != nil || len(live) != test.secrets {
			t.Errorf("%s: %d secrets, %v; want %d", name, len(live), err, test.secrets)
		}
	}
	if source, err := b.store.Source(t.Context(), b.account, full.ID); err != nil || source.CaptureUntil == nil {
		t.Errorf("the full one waits no more: %+v, %v", source, err)
	}
	wantNoSecrets(t, b.requests(t, full.ID), 1)
}

// A source that has a secret and waits for another keeps the first.
func TestAnotherSecretIsTakenBesideTheFirst(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "asana"})
	b.in(t, func(tx store.Tx) error { return tx.AwaitCapture(t.Context(), b.account, s.source.ID, time.Hour) })
	b.ForgetSources()
	if got, err := b.Service.Receive(t.Context(), hookSecret(s.source, "another")); err != nil || !got.Handshake {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, s.secret = range []string{proof, "another"} {
		if got, err := b.Service.Receive(t.Context(), s.signed(t, `{"events":[{"action":"`+s.secret+`"}]}`)); err != nil || len(got.Events) != 1 {
			t.Errorf("%s: %+v, %v", s.secret, got, err)
		}
	}
}

// Challenges and empty lists are answered, are no events, and leave a trace.
func TestHandshakesAreNoEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for _, test := range []struct{ kind, body, answer string }{
		{"slack", `{"type":"url_verification","challenge":"<b>3eZ"}`, "<b>3eZ"},
		{"sendgrid", "[]", ""},
		{"asana", `{"events":[]}`, ""},
	} {
		s := b.newSender(t, gateway.Source{Kind: test.kind})
		for range 2 {
			got, err := b.Service.Receive(t.Context(), s.signed(t, test.body))
			if err != nil || !got.Handshake || got.Answer == nil || got.Answer.Status != http.StatusOK || got.Answer.Body != test.answer || len(got.Events) > 0 {
				t.Errorf("%s: %+v, %v", test.kind, got, err)
			}
		}
		s.secret = ""
		if stored, wrong := s.scheme.NewPair(); stored != "" {
			s.secret = wrong
		}
		if _, err := b.Service.Receive(t.Context(), s.signed(t, test.body)); !isRefused(signature.CodeMismatch)(err) {
			t.Errorf("%s, wrongly signed: %v", test.kind, err)
		}
		kept := b.requests(t, s.source.ID)
		if len(kept) != 3 || kept[1].Cause != gateway.CauseHandshake || kept[1].Detail == "" || kept[1].Answered != http.StatusOK || string(kept[1].Body.Data) != test.body {
			t.Errorf("%s: kept is %+v", test.kind, kept)
		}
	}
	b.wantRows(t, rows{requests: 9})
}
