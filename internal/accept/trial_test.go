package accept_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

const tester gateway.Actor = "user:tester"

// triedSource makes a source of a kind with a secret of the form that it takes,
// which is "" for kinds whose key only the provider has.
func (b bundle) triedSource(t *testing.T, kind, settings string) (source gateway.Source, value string) {
	t.Helper()
	scheme, ok := signature.Lookup(kind)
	if !ok {
		t.Fatalf("no kind %s", kind)
	}
	source = gateway.Source{ID: gateway.SourceID(b.clock.NewID()), Name: kind, Kind: kind, Token: secret.NewToken("")}
	if settings != "" {
		source.Settings = []byte(settings)
	}
	b.in(t, func(tx store.Tx) (err error) {
		source, err = tx.CreateSource(t.Context(), b.account, source)
		return err
	})
	info := scheme.Info()
	if info.Secret.Public {
		public, _ := scheme.NewPair()
		b.addSecret(t, source, public)
		return source, ""
	}
	texts := []string{"correct <horse> & battery", strings.Repeat("ab", 32), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "someone:a password"}
	if kind == "gitlab" { // it signs with keys of one form, and sends others as they are
		texts = texts[2:]
	}
	for _, text := range texts {
		if stored, err := scheme.CheckSecret(text); err == nil && info.Secret.Name != "" {
			b.addSecret(t, source, stored)
			return source, stored
		}
	}
	return source, ""
}

// settingsToTry are what kinds need that cannot do without.
var settingsToTry = map[string]string{
	"hmac":    `{"header":"X-Signature","signed":"{timestamp}.{body}","timestamp_header":"X-Time","id_header":"X-Id"}`,
	"ed25519": `{"header":"X-Signature"}`,
	"ecdsa":   `{"header":"X-Signature"}`,
	"bearer":  `{"header":"X-Token"}`,
}

// due is the code with which a kind refuses a fault; "" for one that it cannot
// see.
func due(info *signature.Info, fault accept.Fault) string {
	switch {
	case fault == accept.FaultWrongSecret:
		return signature.CodeMismatch
	case fault == accept.FaultUnsigned:
		return signature.CodeMissing
	case fault == accept.FaultAltered && !info.BodyOpen:
		return signature.CodeMismatch
	case fault == accept.FaultOld && info.Tolerance != signature.AnyTime && info.Kind != "ed25519" && info.Kind != "ecdsa":
		return signature.CodeTimestamp
	default:
		return ""
	}
}

// Every kind takes the sample that is signed as its provider does, and refuses
// it with whatever is wrong that it can see. Nothing shows a secret.
func TestTrialOfEveryKind(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for _, kind := range signature.Kinds() {
		scheme, _ := signature.Lookup(kind)
		info := scheme.Info()
		source, value := b.triedSource(t, kind, settingsToTry[kind])
		sample, err := b.Sample(t.Context(), b.account, source.ID, "")
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if sample.CheckOnly != info.Secret.Public || sample.ID == "" || len(sample.Body) == 0 {
			t.Errorf("%s: the sample is %+v", kind, sample)
		}
		for _, fault := range sample.Faults {
			for _, send := range []bool{false, true} {
				tried, err := b.Try(t.Context(), b.account, tester, source.ID, accept.Trial{Fault: fault, Send: send})
				if send && sample.CheckOnly {
					if _, ok := errors.AsType[*gateway.InvalidError](err); !ok {
						t.Errorf("%s: sending in what this server signed: %v", kind, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s with %s: %v", kind, fault, err)
				}
				if fault == accept.FaultAltered && info.BodyOpen && tried.Refused != nil {
					continue // a part of the body is signed
				}
				wantTried(t, kind, tried, due(info, fault), send)
				if text := fmt.Sprintf("%+v %s", tried, tried.Request.Body); value != "" && strings.Contains(text, value) {
					t.Errorf("%s with %s shows the secret: %s", kind, fault, text)
				}
			}
		}
	}
}

func wantTried(t *testing.T, kind string, tried accept.Tried, code string, sent bool) {
	t.Helper()
	var got string
	if refusal, ok := errors.AsType[*signature.Refusal](tried.Refused); ok {
		got = refusal.Code
	} else if tried.Refused != nil {
		t.Errorf("%s: refused: %v", kind, tried.Refused)
	}
	if got != code && (code != signature.CodeMissing || got != signature.CodeMismatch) {
		t.Errorf("%s: sent %v, refused with %q, want %q: %v", kind, sent, got, code, tried.Refused)
	}
	if tried.Sent != sent {
		t.Errorf("%s: sent is %v", kind, tried.Sent)
	}
	if got != "" {
		return
	}
	if len(tried.Events) == 0 || tried.Events[0].Type == "" {
		t.Fatalf("%s: no events: %+v", kind, tried)
	}
	for _, event := range tried.Events {
		if (event.ID != nil) != sent || event.Duplicate {
			t.Errorf("%s: event %+v of a request that was sent: %v", kind, event, sent)
		}
	}
}

// What is checked leaves nothing behind; what is sent in leaves an event or a
// refused request, and the name of who did it.
func TestTrialStoresOnlyWhatIsSentIn(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source, _ := b.triedSource(t, "github", `{"allowed_ips":["203.0.113.0/24"]}`)
	try := func(trial accept.Trial) accept.Tried {
		t.Helper()
		tried, err := b.Try(t.Context(), b.account, tester, source.ID, trial)
		if err != nil {
			t.Fatal(err)
		}
		return tried
	}
	try(accept.Trial{})
	try(accept.Trial{Fault: accept.FaultAltered})
	b.wantRows(t, rows{})
	if n := b.count(t, `SELECT count(*) FROM audit_log WHERE action = 'source.test'`); n != 0 {
		t.Errorf("%d checks are in the audit log", n)
	}
	first := try(accept.Trial{Sample: "one", Send: true})
	try(accept.Trial{Fault: accept.FaultAltered, Send: true})
	b.wantRows(t, rows{events: 1, keys: 1, requests: 1})
	if n := b.count(t, `SELECT count(*) FROM audit_log WHERE action = 'source.test' AND actor = $1`, string(tester)); n != 2 {
		t.Errorf("%d of 2 sends are in the audit log", n)
	}
	for _, send := range []bool{false, true} {
		again := try(accept.Trial{Sample: "one", Send: send})
		if e := again.Events[0]; !e.Duplicate || *e.ID != *first.Events[0].ID {
			t.Errorf("the same sample again, sent %v, is %+v", send, e)
		}
	}
	event, body := b.event(t, *first.Events[0].ID)
	if event.SecretID == nil || string(body.Data) != string(first.Request.Body) {
		t.Errorf("stored is %+v with %s", event, body.Data)
	}
}

// The same sample sent in by many at once is one event.
func TestTrialSentByManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source, _ := b.triedSource(t, "stripe", "")
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := b.Try(t.Context(), b.account, tester, source.ID, accept.Trial{Sample: "one", Send: true}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b.wantRows(t, rows{events: 1, keys: 1, requests: 9})
}

// A body and headers of one's own are signed as they are.
func TestTrialOfOwnRequest(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source, value := b.triedSource(t, "github", "")
	trial := accept.Trial{
		Body:   []byte("{\"note\":\"" + value + "\"}\r\n\x00"),
		Header: http.Header{"x-github-event": {"push"}, "X-GitHub-Delivery": {"d-1"}}, Send: true,
	}
	tried, err := b.Try(t.Context(), b.account, tester, source.ID, trial)
	if err != nil || tried.Refused != nil {
		t.Fatalf("%v, %v", err, tried.Refused)
	}
	if e := tried.Events[0]; e.Type != "push" || e.Key != "d-1" {
		t.Errorf("the event is %+v", e)
	}
	if strings.Contains(string(tried.Request.Body), value) || !strings.Contains(string(tried.Request.Body), gateway.Redacted) {
		t.Errorf("the secret is shown: %s", tried.Request.Body)
	}
	_, body := b.event(t, *tried.Events[0].ID)
	if string(body.Data) != string(trial.Body) {
		t.Errorf("stored is %q", body.Data)
	}
	if got := tried.Signing.Headers; len(got) != 1 || got[0] != "X-Hub-Signature-256" {
		t.Errorf("signed in %v", got)
	}
}

// A source that waits for its secret is tried with one that was made up, and
// does not take that for its own.
func TestTrialWithoutASecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for _, kind := range []string{"notion", "asana", "github"} {
		source := b.newSource(t, kind, "")
		tried, err := b.Try(t.Context(), b.account, tester, source.ID, accept.Trial{})
		if err != nil || tried.Refused != nil || tried.Signing.By != accept.SignedByTrial {
			t.Errorf("%s: %v, %+v", kind, err, tried)
		}
		_, err = b.Try(t.Context(), b.account, tester, source.ID, accept.Trial{Send: true})
		if _, ok := errors.AsType[*gateway.InvalidError](err); !ok {
			t.Errorf("%s: sent in: %v", kind, err)
		}
	}
	b.wantRows(t, rows{})
}

func TestTrialRefusesWhatCannotBeTried(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source, _ := b.triedSource(t, "github", "")
	for name, trial := range map[string]accept.Trial{
		"unknown fault":  {Fault: "upside_down"},
		"no signed time": {Fault: accept.FaultOld},
		"broken name":    {Header: http.Header{"a b": {"c"}}},
		"broken value":   {Header: http.Header{"A": {"b\r\nc: d"}}},
		"empty name":     {Header: http.Header{"": {"c"}}},
	} {
		_, err := b.Try(t.Context(), b.account, tester, source.ID, trial)
		if _, ok := errors.AsType[*gateway.InvalidError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.Sample(t.Context(), b.account, b.api, ""); !errors.Is(err, gateway.ErrBuiltIn) {
		t.Errorf("the source of the API: %v", err)
	}
	other, _ := b.newAccount(t, "other")
	for _, err := range []error{
		second(b.Sample(t.Context(), other, source.ID, "")),
		second(b.Try(t.Context(), other, tester, source.ID, accept.Trial{Send: true})),
	} {
		if !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("another account's source: %v", err)
		}
	}
	b.wantRows(t, rows{})
}

func second[T any](_ T, err error) error { return err }

// What somebody tries at the test console is never taken for the provider's
// secret, also by a source that waits for one.
func TestTrialIsNoSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for kind, trial := range map[string]accept.Trial{
		"asana":  {Header: http.Header{"X-Hook-Secret": {"made up"}}, Body: []byte{}},
		"notion": {Body: []byte(`{"verification_token":"made up"}`)},
	} {
		source := b.waitingSource(t, kind)
		b.addSecret(t, source, proof)
		trial.Fault, trial.Send = accept.FaultUnsigned, true
		tried, err := b.Try(t.Context(), b.account, tester, source.ID, trial)
		if err != nil || !isRefused(signature.CodeMissing)(tried.Refused) {
			t.Errorf("%s: %+v, %v", kind, tried, err)
		}
		live, err := b.store.SourceSecrets(t.Context(), b.account, source.ID)
		if err != nil || len(live) != 1 || live[0].Captured {
			t.Errorf("%s: secrets %+v, %v, want the first alone", kind, live, err)
		}
	}
}
