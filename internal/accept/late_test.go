package accept_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

const presser gateway.Actor = "usr_presser"

// refuse sends a request that must be refused, and returns what is kept of it.
func (b bundle) refuse(t *testing.T, source gateway.Source, in accept.Incoming) gateway.Request {
	t.Helper()
	if got, err := b.Service.Receive(t.Context(), in); err == nil {
		t.Fatalf("taken in: %+v", got)
	}
	return b.requests(t, source.ID)[0]
}

func (b bundle) late(t *testing.T, request gateway.Request, override string) (accept.Receipt, error) {
	return b.AcceptLate(t.Context(), b.account, presser, request.SourceID, request.ID, override)
}

func (b bundle) check(t *testing.T, request gateway.Request) error {
	return b.Check(t.Context(), b.account, request.SourceID, request.ID)
}

// wantAudited fails unless the request was accepted as often as wanted by the
// log, with these words about the last one.
func (b bundle) wantAudited(t *testing.T, request gateway.Request, times int, detail string) {
	t.Helper()
	n := b.count(t, `
		SELECT count(*)
		FROM audit_log
		WHERE action = 'request.accept'
		  AND actor = $1
		  AND object = $2
		  AND detail = $3`, string(presser), request.ID.String(), detail)
	if n != times {
		t.Errorf("%d entries say %q, want %d", n, detail, times)
	}
}

// A request that was refused for a wrong secret is taken in when the secret is
// mended, once however often that is pressed, byte for byte.
func TestAcceptLate(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", "wrong")
	in := signed(source, proof, "id", "{\"a\":\"\x00\xff\"} ")
	in.Path, in.Query = "/p", "q=%20"
	refused := b.refuse(t, source, in)
	if err := b.check(t, refused); !isRefused(signature.CodeMismatch)(err) {
		t.Errorf("check: %v", err)
	}
	if _, err := b.late(t, refused, " \n "); !isRefused(signature.CodeMismatch)(err) {
		t.Errorf("unproven: %v", err)
	}
	b.wantRows(t, rows{requests: 1})
	mended := b.addSecret(t, source, proof)
	for range 2 { // asking changes nothing
		if err := b.check(t, refused); err != nil {
			t.Errorf("check: %v", err)
		}
	}
	all := atOnce(n, func(int) (accept.Receipt, error) { return b.late(t, refused, "") })
	wantOutcomes(t, all, 1, isError(gateway.ErrAlreadyAccepted))
	wantOutcomes(t, atOnce(2, func(int) (accept.Receipt, error) { return b.late(t, refused, "a reason") }), 0, isError(gateway.ErrAlreadyAccepted))
	if err := b.check(t, refused); !isError(gateway.ErrAlreadyAccepted)(err) {
		t.Errorf("check: %v", err)
	}
	b.wantRows(t, rows{events: 1, keys: 1, requests: 1})
	b.wantAudited(t, refused, 1, "")
	taken := all[slices.IndexFunc(all, func(one outcome) bool { return one.err == nil })]
	event, body := b.event(t, taken.Events[0].ID)
	if event.RequestID == nil || *event.RequestID != refused.ID || event.Type != "push" || event.SecretID == nil || *event.SecretID != mended {
		t.Errorf("event %+v", event)
	}
	if !bytes.Equal(body.Data, in.Body) || string(body.Path) != "/p" || string(body.Query) != "q=%20" || !bytes.Equal(body.Headers, gateway.EncodeHeaders(in.Header)) {
		t.Errorf("body %+v", body)
	}
	if kept := b.requests(t, source.ID)[0]; kept.AcceptedAt == nil || kept.EventID == nil || *kept.EventID != event.ID {
		t.Errorf("kept is %+v", kept)
	}
	if ids := b.committed.all(); !slices.Equal(ids, []gateway.EventID{event.ID}) {
		t.Errorf("to be decided are %v", ids)
	}
	// What the provider sends again is a repeat.
	b.ForgetSources()
	if got, err := b.Receive(t.Context(), in); err != nil || got != (accept.Received{ID: event.ID, Duplicate: true}) {
		t.Errorf("a retry: %+v, %v", got, err)
	}
}

// Pressed while the provider sends the event again, there is one event, and
// whoever comes second is told of it.
func TestAcceptLateBesideARetry(t *testing.T) {
	t.Parallel()
	const n, rounds = 6, 8
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", "wrong")
	pending := make([]gateway.Request, rounds)
	for i := range pending {
		pending[i] = b.refuse(t, source, signed(source, proof, fmt.Sprint(i), "{}"))
	}
	b.addSecret(t, source, proof)
	b.ForgetSources()
	for i, refused := range pending {
		all := atOnce(2*n, func(j int) (accept.Receipt, error) {
			if j%2 == 0 {
				return b.late(t, refused, "")
			}
			return b.Service.Receive(t.Context(), signed(source, proof, fmt.Sprint(i), "{}"))
		})
		wantOutcomes(t, all, n+1, isError(gateway.ErrAlreadyAccepted))
		events := map[gateway.EventID]bool{}
		for _, one := range all {
			if one.err == nil {
				events[one.Events[0].ID] = true
			}
		}
		if len(events) != 1 {
			t.Errorf("round %d: told of %d events", i, len(events))
		}
		b.wantAudited(t, refused, 1, "")
	}
	// Of the retries each leaves a trace, but for one that was first.
	first := b.count(t, `SELECT count(*) FROM events WHERE request_id IS NULL`)
	b.wantRows(t, rows{events: rounds, keys: rounds, requests: rounds + rounds*n - first})
}

// A request that nothing proves is taken in for a reason, which is in the log.
func TestAcceptUnproven(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	refused := b.refuse(t, source, signed(source, "wrong", "id", "{}"))
	for _, bad := range []string{strings.Repeat("é", 501), "a\x00b", "\xff"} {
		if _, err := b.late(t, refused, bad); len(invalids(err)) == 0 {
			t.Errorf("%.10q: %v, want an InvalidError", bad, err)
		}
	}
	reason := strings.Repeat("é", 500)
	got, err := b.late(t, refused, " "+reason+"\n")
	if err != nil || len(got.Events) != 1 || got.Events[0].Duplicate {
		t.Fatalf("%+v, %v", got, err)
	}
	event, _ := b.event(t, got.Events[0].ID)
	if event.SecretID != nil || event.Type != "push" || string(event.Key) != "id" {
		t.Errorf("event %+v", event)
	}
	b.wantAudited(t, refused, 1, reason)
	b.wantRows(t, rows{events: 1, keys: 1, requests: 1})
}

func invalids(err error) string {
	if invalid, ok := err.(*gateway.InvalidError); ok { //nolint:errorlint // it is not wrapped
		return invalid.Field
	}
	return ""
}

// The time of the signature is not asked again; neither is where it came from.
func TestWhatIsAcceptedLate(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	old := b.newSource(t, "stripe", proof)
	far := b.makeSource(t, gateway.Source{Kind: "github", Settings: []byte(`{"allowed_ips":["192.0.2.1"]}`)})
	b.addSecret(t, far, proof)
	for cause, refused := range map[string]gateway.Request{
		signature.CodeTimestamp: b.refuse(t, old, stripeSigned(old, b.clock.Now().Add(-24*time.Hour), `{"id":"evt_1"}`)),
		gateway.CauseAddress:    b.refuse(t, far, signed(far, proof, "1", "{}")),
	} {
		if refused.Cause != cause {
			t.Errorf("refused for %s, want %s", refused.Cause, cause)
		}
		if err := b.check(t, refused); err != nil {
			t.Errorf("%s: check: %v", cause, err)
		}
		if got, err := b.late(t, refused, ""); err != nil || got.Events[0].Duplicate {
			t.Errorf("%s: %+v, %v", cause, got, err)
		}
	}
	b.wantRows(t, rows{events: 2, keys: 2, requests: 2})
}

// What may be a replay is taken for a reason only, although its signature is
// right: a body that was seen, and an event of which only a token is signed.
func TestAcceptWhatMayBeAReplay(t *testing.T) {
	t.Parallel()
	const reason = "the provider has confirmed it"
	b := newBundle(t, accept.Limits{})
	seen := b.makeSource(t, gateway.Source{Kind: "github", Settings: []byte(guarded)})
	secret := b.addSecret(t, seen, proof)
	if _, err := b.Receive(t.Context(), signed(seen, proof, "1", "{}")); err != nil {
		t.Fatal(err)
	}
	token := b.newSender(t, gateway.Source{Kind: "mailgun"})
	token.secret = "mended"
	refused := b.refuse(t, token.source, token.signed(t, mailgunBody("one", "id1")))
	mended := b.addSecret(t, token.source, token.secret)
	for want, refused := range map[gateway.SecretID]gateway.Request{
		secret: b.refuse(t, seen, signed(seen, proof, "2", "{}")),
		mended: refused,
	} {
		if err := b.check(t, refused); !isRefused(signature.CodeMismatch)(err) {
			t.Errorf("%s: check: %v", refused.Cause, err)
		}
		if got, err := b.late(t, refused, ""); !isRefused(signature.CodeMismatch)(err) {
			t.Errorf("%s: without a reason: %+v, %v", refused.Cause, got, err)
		}
		got, err := b.late(t, refused, reason)
		if err != nil || got.Events[0].Duplicate {
			t.Fatalf("%s: %+v, %v", refused.Cause, got, err)
		}
		if event, _ := b.event(t, got.Events[0].ID); event.SecretID == nil || *event.SecretID != want {
			t.Errorf("%s: proven by %v", refused.Cause, event.SecretID)
		}
		b.wantAudited(t, refused, 1, reason)
	}
}

// What may come once cannot come again after it was accepted late; a retry of it
// is told of its event.
func TestAcceptedLateIsRemembered(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	guardedSource := b.makeSource(t, gateway.Source{Kind: "github", Settings: []byte(guarded)})
	token := b.newSender(t, gateway.Source{Kind: "mailgun"})
	token.secret = "mended"
	for name, send := range map[string]func(id string) accept.Incoming{
		"a body":  func(id string) accept.Incoming { return signed(guardedSource, token.secret, id, `{"a":1}`) },
		"a token": func(id string) accept.Incoming { return token.signed(t, mailgunBody("two", id)) },
	} {
		source := guardedSource
		if name == "a token" {
			source = token.source
		}
		refused := b.refuse(t, source, send("id1"))
		b.addSecret(t, source, token.secret)
		b.ForgetSources()
		taken, err := b.late(t, refused, "a reason")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := b.Receive(t.Context(), send("id2")); !isError(gateway.ErrBodyReplayed)(err) {
			t.Errorf("%s, under another id: %+v, %v", name, got, err)
		}
		if got, err := b.Receive(t.Context(), send("id1")); err != nil || got != (accept.Received{ID: taken.Events[0].ID, Duplicate: true}) {
			t.Errorf("%s, a retry: %+v, %v", name, got, err)
		}
	}
}

// What cannot be accepted at all, also for a reason.
func TestWhatIsNotAcceptedLate(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	github := b.newSource(t, "github", proof)
	slack := b.newSender(t, gateway.Source{Kind: "slack"})
	if _, err := b.Service.Receive(t.Context(), slack.signed(t, `{"type":"url_verification","challenge":"x"}`)); err != nil {
		t.Fatal(err)
	}
	hello := b.requests(t, slack.source.ID)[0]
	wrong := slack
	wrong.secret = "wrong"
	unproven := b.refuse(t, slack.source, wrong.signed(t, `{"type":"url_verification","challenge":"y"}`))
	b.addSecret(t, slack.source, "wrong") // now it is a challenge that nobody waits for
	meta := b.makeSource(t, gateway.Source{Kind: "meta", Settings: []byte(`{"verify_token":"mine"}`)})
	check := b.refuse(t, meta, accept.Incoming{Token: meta.Token, Method: http.MethodGet, Query: "hub.mode=subscribe&hub.verify_token=other&hub.challenge=1", Header: http.Header{}})
	for range 2 {
		if _, err := b.Receive(t.Context(), signed(github, proof, "1", "{}")); err != nil {
			t.Fatal(err)
		}
	}
	repeat := b.requests(t, github.ID)[0]
	cut := b.refuse(t, github, signed(github, "wrong", "2", strings.Repeat("x", gateway.MaxRequestBody+1)))
	whole := b.refuse(t, github, signed(github, "wrong", "3", strings.Repeat("x", gateway.MaxRequestBody)))
	elsewhere, unknown := whole, whole
	elsewhere.SourceID, unknown.ID = slack.source.ID, gateway.RequestID(b.clock.NewID())
	gone := b.newSource(t, "github", proof)
	deleted := b.refuse(t, gone, signed(gone, "wrong", "4", "{}"))
	b.exec(t, `UPDATE sources SET deleted_at = now() WHERE id = $1`, gone.ID)
	for name, test := range map[string]struct {
		request gateway.Request
		err     error
	}{
		"a handshake": {hello, gateway.ErrNoEvent}, "a handshake that was refused": {unproven, gateway.ErrNoEvent},
		"a check of the address": {check, gateway.ErrNoEvent},
		"a repeat":               {repeat, gateway.ErrAlreadyAccepted}, "one that is not kept whole": {cut, gateway.ErrRequestCut},
		"another source's": {elsewhere, gateway.ErrNotFound}, "none": {unknown, gateway.ErrNotFound}, "a deleted source's": {deleted, gateway.ErrNotFound},
	} {
		for _, reason := range []string{"", "a reason"} {
			if got, err := b.late(t, test.request, reason); !isError(test.err)(err) {
				t.Errorf("%s, %q: %+v, %v, want %v", name, reason, got, err, test.err)
			}
		}
		if err := b.check(t, test.request); !isError(test.err)(err) {
			t.Errorf("%s: check: %v, want %v", name, err, test.err)
		}
	}
	other := b
	other.account, _ = b.newAccount(t, "other")
	if _, err := other.late(t, whole, "a reason"); !isError(gateway.ErrNotFound)(err) {
		t.Errorf("another account's: %v", err)
	}
	if n := b.count(t, `SELECT count(*) FROM events`) + b.count(t, `SELECT count(*) FROM audit_log`); n != 1 {
		t.Errorf("%d events and entries, want the first event alone", n)
	}
	if got, err := b.late(t, whole, "a reason"); err != nil || len(got.Events) != 1 {
		t.Errorf("the longest that is kept: %+v, %v", got, err)
	}
}

// A request of several events without keys, pressed many times at once: each of
// them is taken once, and the request is kept once under its own id.
func TestAcceptSeveralLate(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	other, _ := s.scheme.NewPair()
	b.exec(t, `UPDATE source_secrets SET ends_at = now() - interval '1 hour'`)
	b.addSecret(t, s.source, other)
	in := s.signed(t, mails("", "a", "", "a"))
	refused := b.refuse(t, s.source, in)
	b.exec(t, `UPDATE source_secrets SET ends_at = NULL`)
	all := atOnce(n, func(int) (accept.Receipt, error) { return b.late(t, refused, "") })
	wantOutcomes(t, all, 1, isError(gateway.ErrAlreadyAccepted))
	b.wantRows(t, rows{events: 3, keys: 1, requests: 1, raw: 1})
	taken := all[slices.IndexFunc(all, func(one outcome) bool { return one.err == nil })]
	if !taken.Batch || len(taken.Events) != 4 || !taken.Events[3].Duplicate || taken.Events[3].ID != taken.Events[1].ID {
		t.Errorf("%+v", taken)
	}
	event, _ := b.event(t, taken.Events[0].ID)
	whole, err := b.store.WholeRequest(t.Context(), b.account, refused.ID)
	if err != nil || !bytes.Equal(whole.Data, in.Body) || *event.RequestID != refused.ID {
		t.Errorf("kept is %+v, %v, of the event %+v", whole, err, event)
	}
	if beside, err := b.store.Siblings(t.Context(), b.account, event, 9); len(beside) != 3 || err != nil {
		t.Errorf("%d came together, %v", len(beside), err)
	}
}

// A token is a secret itself and not kept: nothing can prove its request later,
// and the refusal says so. A reason can stand in for it.
func TestATokenProvesNothingLate(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for kind, header := range map[string]http.Header{
		"gitlab": {"X-Gitlab-Token": {proof}, "X-Gitlab-Event": {"Push Hook"}},
		"bearer": {"Authorization": {"Bearer " + proof}},
	} {
		source := b.newSource(t, kind, "wrong")
		refused := b.refuse(t, source, accept.Incoming{Token: source.Token, Method: http.MethodPost, Header: header, Body: []byte("{}")})
		b.addSecret(t, source, proof)
		b.addSecret(t, source, gateway.Redacted)
		err := b.check(t, refused)
		if !strings.Contains(fmt.Sprint(err), "is itself the secret, and is not kept") {
			t.Errorf("%s: %v", kind, err)
		}
		if got, err := b.late(t, refused, "a reason"); err != nil || len(got.Events) != 1 {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}
