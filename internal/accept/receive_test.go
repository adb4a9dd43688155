package accept_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// bodies are what a database that thinks in text or JSON would change.
var bodies = map[string][]byte{
	"empty":             {},
	"NUL":               []byte("{\"a\":\"\x00\"}"),
	"escaped NUL":       []byte(`{"a":"\u0000"}`),
	"invalid UTF-8":     []byte("\xff\xfe\xc3\x28"),
	"duplicate keys":    []byte(`{"a":1,"a":2}`),
	"beyond 2^53":       []byte(`{"n":9007199254740993,"f":1.10}`),
	"order and spaces":  []byte("{ \"b\" : 1 ,\r\n\t\"a\":2 }\n"),
	"a mebibyte":        bytes.Repeat([]byte{0, 0xff, 'a', '\\'}, 1<<18),
	"a mebibyte, equal": bytes.Repeat([]byte{'x'}, 1<<20),
}

func TestReceiveStoresTheRequest(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", "")
	secretID := b.addSecret(t, source, proof)
	in := signed(source, proof, "id-1", `{"zen":"keep it"}`)
	in.Path, in.Query = "/what/follows%20\xff", "a=1&a=2&\x00"
	in.Header.Add("X-Many", "1")
	in.Header.Add("X-Many", "2 \xff")
	receipt, err := b.Receive(t.Context(), in)
	if err != nil || receipt.Duplicate {
		t.Fatalf("%+v, %v", receipt, err)
	}
	event, body := b.event(t, receipt.ID)
	event.DecideAfter = time.Time{}
	want := gateway.Event{
		ID: receipt.ID, AccountID: b.account, SourceID: source.ID, Type: "push", Key: []byte("id-1"),
		Status: gateway.EventAccepted, SecretID: &secretID, BodySize: len(in.Body),
	}
	if diff := cmp.Diff(want, event); diff != "" {
		t.Error(diff)
	}
	wantBody := gateway.Body{Method: "POST", Path: []byte(in.Path), Query: []byte(in.Query), Headers: gateway.EncodeHeaders(in.Header), Data: in.Body}
	if diff := cmp.Diff(wantBody, body); diff != "" {
		t.Error(diff)
	}
	b.wantRows(t, rows{events: 1, keys: 1})
}

// An unsigned source takes anything, byte for byte; a request without an id is
// an event each time, of the default type.
func TestReceivedBytes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "none", "")
	for name, data := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				receipt, err := b.Receive(t.Context(), accept.Incoming{Token: source.Token, Method: "PUT", Body: data})
				if err != nil || receipt.Duplicate {
					t.Fatalf("%+v, %v", receipt, err)
				}
				event, body := b.event(t, receipt.ID)
				if !bytes.Equal(body.Data, data) || body.Method != "PUT" {
					t.Errorf("%d bytes came back as %d others", len(data), len(body.Data))
				}
				if event.Type != gateway.DefaultEventType || event.Key != nil || event.SecretID != nil {
					t.Errorf("event %+v", event)
				}
			}
		})
	}
}

// Headers that are themselves a secret are not stored, neither with an event
// nor with a refused request; the caller's request stays as it is.
func TestSecretHeadersAreRedacted(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	secrets := []string{"Authorization", "Cookie", "Proxy-Authorization"}
	for _, value := range []string{proof, "wrong"} {
		in := signed(source, value, "id", "{}")
		for _, name := range secrets {
			in.Header[name] = []string{"hunter2", "hunter3"}
		}
		in.Header.Set("X-Plain", "shown")
		receipt, err := b.Receive(t.Context(), in)
		var headers []byte
		if err == nil {
			_, body := b.event(t, receipt.ID)
			headers = body.Headers
		} else {
			headers = b.requests(t, source.ID)[0].Body.Headers
		}
		if bytes.Contains(headers, []byte("hunter")) {
			t.Errorf("a secret is stored: %q", headers)
		}
		decoded := gateway.DecodeHeaders(headers)
		for _, name := range secrets {
			if got := decoded[name]; !slices.Equal(got, []string{gateway.Redacted, gateway.Redacted}) {
				t.Errorf("%s is stored as %q", name, got)
			}
			if got := in.Header[name]; !slices.Equal(got, []string{"hunter2", "hunter3"}) {
				t.Errorf("the caller's %s became %q", name, got)
			}
		}
		if decoded.Get("X-Plain") != "shown" {
			t.Error("a plain header is not stored")
		}
	}
	b.wantRows(t, rows{events: 1, keys: 1, requests: 1})
}

func TestUnknownTokens(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	gone := b.newSource(t, "none", "")
	b.in(t, func(tx store.Tx) error { return tx.DeleteSource(t.Context(), b.account, gone.ID) })
	api, err := b.store.Source(t.Context(), b.account, b.api)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"unknown": "unknown", "empty": "", "deleted": gone.Token, "built in": api.Token, "case": strings.ToUpper(b.newSource(t, "none", "").Token),
	} {
		if _, err := b.Receive(t.Context(), accept.Incoming{Token: token, Method: "POST"}); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	b.wantRows(t, rows{})
}

// stripeSigned is Stripe's request, signed at a time.
func stripeSigned(source gateway.Source, at time.Time, body string) accept.Incoming {
	text := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(proof))
	fmt.Fprintf(mac, "%s.%s", text, body)
	return accept.Incoming{Token: source.Token, Method: "POST", Body: []byte(body), Header: http.Header{
		"Stripe-Signature": {"t=" + text + ",v1=" + hex.EncodeToString(mac.Sum(nil))},
	}}
}

// A refused request is no event, and is kept with its cause.
func TestRefusedRequestsAreKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	github, stripe := b.newSource(t, "github", proof), b.newSource(t, "stripe", proof)
	bare := b.newSource(t, "github", "")
	header := func(in accept.Incoming, name string, values ...string) accept.Incoming {
		in.Header[name] = values
		return in
	}
	now := b.clock.Now()
	for _, test := range []struct {
		name   string
		source gateway.Source
		in     accept.Incoming
		code   string
		skewMS int64 // about
	}{
		{"no signature", github, header(signed(github, proof, "1", "{}"), "X-Hub-Signature-256"), signature.CodeMissing, 0},
		{"no hex", github, header(signed(github, proof, "1", "{}"), "X-Hub-Signature-256", "sha256=zz"), signature.CodeMalformed, 0},
		{"wrong secret", github, signed(github, "wrong", "1", "{}"), signature.CodeMismatch, 0},
		{"empty secret", github, signed(github, "", "1", "{}"), signature.CodeMismatch, 0},
		{"a source without a secret", bare, signed(bare, "", "1", "{}"), signature.CodeMismatch, 0},
		{"an old one", stripe, stripeSigned(stripe, now.Add(-time.Hour), "{}"), signature.CodeTimestamp, -3_600_000},
		{"one of the future", stripe, stripeSigned(stripe, now.Add(time.Hour), "{}"), signature.CodeTimestamp, 3_600_000},
	} {
		test.in.Path, test.in.Query = "/p", "q=1"
		receipt, err := b.Receive(t.Context(), test.in)
		var refusal *signature.Refusal
		if !errors.As(err, &refusal) || refusal.Code != test.code || !receipt.ID.IsZero() {
			t.Fatalf("%s: %+v, %v, want the code %s", test.name, receipt, err, test.code)
		}
		kept := b.requests(t, test.source.ID)[0]
		if test.skewMS == 0 && kept.SkewMS != nil || test.skewMS != 0 && (kept.SkewMS == nil || (time.Duration(*kept.SkewMS-test.skewMS)*time.Millisecond).Abs() > time.Minute) {
			t.Errorf("%s: skew %v, want about %d", test.name, kept.SkewMS, test.skewMS)
		}
		kept.ID, kept.SkewMS = gateway.RequestID{}, nil
		want := gateway.Request{
			AccountID: b.account, SourceID: test.source.ID, Cause: test.code, Detail: refusal.Detail, BodySize: 2,
			Header: refusal.Header, Answered: http.StatusUnauthorized,
			Body: gateway.Body{Method: "POST", Path: []byte("/p"), Query: []byte("q=1"), Headers: gateway.EncodeHeaders(test.in.Header), Data: []byte("{}")},
		}
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	b.wantRows(t, rows{requests: 7})
	if len(b.committed.all()) != 0 {
		t.Error("a refused request is to be decided")
	}
}

// Of a long body the first part is kept, with the size that it had.
func TestKeptBodiesAreCut(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	long := strings.Repeat("x", gateway.MaxRequestBody+1)
	for name, send := range map[string][]accept.Incoming{
		"refused":   {signed(source, "wrong", "1", long)},
		"duplicate": {signed(source, proof, "2", long), signed(source, proof, "2", long)},
	} {
		var receipt accept.Received
		for _, in := range send {
			receipt, _ = b.Receive(t.Context(), in)
		}
		kept := b.requests(t, source.ID)[0]
		if len(kept.Body.Data) != gateway.MaxRequestBody || kept.BodySize != len(long) {
			t.Errorf("%s: %d of %d bytes are kept", name, len(kept.Body.Data), kept.BodySize)
		}
		if !receipt.ID.IsZero() {
			if _, body := b.event(t, receipt.ID); len(body.Data) != len(long) {
				t.Errorf("the event has %d bytes of %d", len(body.Data), len(long))
			}
		}
	}
}

// A refusal that could not be kept is not told: the sender is to come again.
func TestARefusalThatCannotBeKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	in := signed(source, "wrong", "1", "{}")
	if _, err := b.Receive(t.Context(), in); err == nil {
		t.Fatal("not refused")
	}
	b.pool.Close()
	_, err := b.Receive(t.Context(), in)
	var refusal *signature.Refusal
	if !errors.Is(err, gateway.ErrUnavailable) || errors.As(err, &refusal) {
		t.Errorf("error %v, want ErrUnavailable alone", err)
	}
}

// A provider that repeats an event is answered as at first, whatever its body;
// the request is kept with what differs.
func TestReceiveAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	first, err := b.Receive(t.Context(), signed(source, proof, "1", "{}"))
	if err != nil || first.Duplicate {
		t.Fatalf("%+v, %v", first, err)
	}
	for body, differs := range map[string]bool{"{}": false, "{ }": true} {
		again, err := b.Receive(t.Context(), signed(source, proof, "1", body))
		if err != nil || again != (accept.Received{ID: first.ID, Duplicate: true}) {
			t.Errorf("%q: %+v, %v, want %s again", body, again, err, first.ID)
		}
		kept := b.requests(t, source.ID)[0]
		if kept.Cause != gateway.CauseDuplicate || *kept.EventID != first.ID || kept.BodyDiffers != differs || string(kept.Body.Data) != body {
			t.Errorf("%q is kept as %+v", body, kept)
		}
	}
	b.wantRows(t, rows{events: 1, keys: 1, requests: 2})
}

func TestReceiveAHundredTimesAtOnce(t *testing.T) {
	t.Parallel()
	const n = 100
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	receipts := make([]accept.Received, n)
	pgtest.AtOnce(n, func(i int) {
		var err error
		if receipts[i], err = b.Receive(t.Context(), signed(source, proof, "1", "{}")); err != nil {
			t.Error(err)
		}
	})
	first := 0
	for _, r := range receipts {
		if r.ID != receipts[0].ID {
			t.Errorf("two ids: %s and %s", r.ID, receipts[0].ID)
		}
		if !r.Duplicate {
			first++
		}
	}
	if first != 1 {
		t.Errorf("%d were the first", first)
	}
	b.wantRows(t, rows{events: 1, keys: 1, requests: n - 1})
}

// A key is of its source.
func TestOneKeyAtTwoSources(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for range 2 {
		source := b.newSource(t, "github", proof)
		if receipt, err := b.Receive(t.Context(), signed(source, proof, "1", "{}")); err != nil || receipt.Duplicate {
			t.Errorf("%+v, %v", receipt, err)
		}
	}
	b.wantRows(t, rows{events: 2, keys: 2})
}

// A paused source takes its events and answers as ever; that they are held is
// decided later.
func TestReceiveAtAPausedSource(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	b.in(t, func(tx store.Tx) error {
		_, err := tx.SetSourceState(t.Context(), b.account, source.ID, gateway.SourcePaused)
		return err
	})
	receipt, err := b.Receive(t.Context(), signed(source, proof, "1", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	if event, _ := b.event(t, receipt.ID); event.Status != gateway.EventAccepted {
		t.Errorf("status %s", event.Status)
	}
	b.wantRows(t, rows{events: 1, keys: 1})
}

// During a rotation any live secret proves, and which one did is recorded.
func TestReceiveWithTwoSecrets(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", "")
	ids := map[string]gateway.SecretID{"old": b.addSecret(t, source, "old"), "new": b.addSecret(t, source, "new")}
	for value, want := range ids {
		receipt, err := b.Receive(t.Context(), signed(source, value, value, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		if event, _ := b.event(t, receipt.ID); event.SecretID == nil || *event.SecretID != want {
			t.Errorf("proved by %v, want %s", event.SecretID, want)
		}
	}
}

// What one account knows opens nothing of another: neither its secret, nor a
// copy of its stored secret.
func TestSecretsOfAnotherAccount(t *testing.T) {
	t.Parallel()
	for name, copied := range map[string]string{
		"its text": `SELECT $1::uuid, $2::uuid`,
		"its sealed bytes": `
			UPDATE source_secrets
			SET sealed = (SELECT sealed FROM source_secrets WHERE source_id = $1)
			WHERE source_id = $2`,
		"its row": `
			UPDATE source_secrets
			SET source_id = $2, account_id = (SELECT account_id FROM sources WHERE id = $2)
			WHERE source_id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, accept.Limits{})
			other := b
			other.account, other.api = b.newAccount(t, "other")
			mine, theirs := b.newSource(t, "github", "mine"), other.newSource(t, "github", "theirs")
			b.exec(t, copied, theirs.ID, mine.ID)
			receipt, err := b.Receive(t.Context(), signed(mine, "theirs", "1", "{}"))
			if err == nil || errors.Is(err, gateway.ErrNotFound) || !receipt.ID.IsZero() {
				t.Errorf("accepted as %+v, %v", receipt, err)
			}
			if n := b.count(t, `SELECT count(*) FROM events`); n != 0 {
				t.Errorf("%d events are stored", n)
			}
		})
	}
}

// A source of a kind that this version does not know is a fault of ours: it
// loses nothing of the sender's.
func TestSourceOfAnUnknownKind(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "of-a-later-version", "")
	_, err := b.Receive(t.Context(), accept.Incoming{Token: source.Token, Method: "POST"})
	if err == nil || errors.Is(err, gateway.ErrNotFound) || !strings.Contains(err.Error(), source.ID.String()) {
		t.Errorf("error %v, want one that names the source", err)
	}
	broken := b.newSource(t, "none", "")
	b.exec(t, `UPDATE sources SET settings = 'no JSON' WHERE id = $1`, broken.ID)
	if _, err := b.Receive(t.Context(), accept.Incoming{Token: broken.Token, Method: "POST"}); err == nil || !strings.Contains(err.Error(), broken.ID.String()) {
		t.Errorf("error %v, want one that names the source", err)
	}
}

// A source's tolerance is its own choice.
func TestToleranceOfASource(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "stripe", proof)
	b.exec(t, `UPDATE sources SET settings = '{"tolerance":"2h"}' WHERE id = $1`, source.ID)
	if _, err := b.Receive(t.Context(), stripeSigned(source, b.clock.Now().Add(-time.Hour), `{"id":"evt_1","type":"charge.paid"}`)); err != nil {
		t.Errorf("within its tolerance: %v", err)
	}
	var refusal *signature.Refusal
	if _, err := b.Receive(t.Context(), stripeSigned(source, b.clock.Now().Add(-3*time.Hour), "{}")); !errors.As(err, &refusal) {
		t.Errorf("beyond its tolerance: %v", err)
	}
}

// A repeat's trace tells the status that its sender was answered with.
func TestARepeatTellsItsAnswer(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for kind, body := range map[string]string{
		"github":          `{}`,
		"discord":         `{"type":1,"event":{"type":"ENTITLEMENT_CREATE","timestamp":"2024-10-18T14:42:53.064834"}}`,
		"microsoft_graph": "",
	} {
		s := b.newSender(t, gateway.Source{Kind: kind})
		if body == "" {
			body = string(s.scheme.Sample("", "id", b.clock.Now()).Body)
		}
		want := http.StatusOK
		for range 2 {
			got, err := b.Service.Receive(t.Context(), s.signed(t, body))
			if err != nil || got.Handshake {
				t.Fatalf("%s: %+v, %v", kind, got, err)
			}
			if got.Answer != nil {
				want = got.Answer.Status
			}
		}
		if kept := b.requests(t, s.source.ID); len(kept) != 1 || kept[0].Answered != want || (kind == "github") != (want == http.StatusOK) {
			t.Errorf("%s: kept is %+v, answered %d", kind, kept, want)
		}
	}
}
