package accept_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
)

const guarded = `{"replay_guard":"10m"}`

// A body that was taken in before is refused under another id, within the
// window: of twenty at once one is an event. A retry with the first one's id
// is a repeat, and one whose id was refused can have it when the window is over.
func TestReplayGuard(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t, accept.Limits{})
	source := b.makeSource(t, gateway.Source{Kind: "github", Settings: []byte(guarded)})
	b.addSecret(t, source, proof)
	send := func(i int) (accept.Receipt, error) {
		return b.Service.Receive(t.Context(), signed(source, proof, fmt.Sprint("id", i), `{"a":1}`))
	}
	all := atOnce(n, send)
	wantOutcomes(t, all, 1, isError(gateway.ErrBodyReplayed))
	b.wantRows(t, rows{events: 1, keys: 2, requests: n - 1})
	for _, kept := range b.requests(t, source.ID) {
		if kept.Cause != gateway.CauseReplay || kept.Answered != http.StatusConflict || kept.Detail == "" || string(kept.Body.Data) != `{"a":1}` {
			t.Fatalf("kept is %+v", kept)
		}
	}
	winner := 0
	for i, one := range all {
		if one.err == nil {
			winner = i
		}
	}
	if got, err := send(winner); err != nil || got.Events[0] != (accept.Received{ID: all[winner].Events[0].ID, Duplicate: true}) {
		t.Errorf("a retry: %+v, %v", got, err)
	}
	if got, err := b.Service.Receive(t.Context(), signed(source, proof, "other", `{"a":2}`)); err != nil || got.Events[0].Duplicate {
		t.Errorf("another body: %+v, %v", got, err)
	}
	loser := (winner + 1) % n
	wantOutcomes(t, atOnce(2, func(int) (accept.Receipt, error) { return send(loser) }), 0, isError(gateway.ErrBodyReplayed))
	b.exec(t, `UPDATE event_keys SET seen_at = seen_at - interval '11 minutes'`)
	if got, err := send(loser); err != nil || got.Events[0].Duplicate {
		t.Errorf("after the window: %+v, %v", got, err)
	}
}

// Without the guard, equal bodies are honest.
func TestEqualBodiesWithoutAGuard(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	for i := range 2 {
		if got, err := b.Receive(t.Context(), signed(source, proof, fmt.Sprint(i), "{}")); err != nil || got.Duplicate {
			t.Errorf("%+v, %v", got, err)
		}
	}
	b.wantRows(t, rows{events: 2, keys: 2})
}

// Mailgun signs a token and not the event: whoever has seen one signature cannot
// have another event taken with it.
func TestATokenIsTakenOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "mailgun"})
	send := func(i int) (accept.Receipt, error) {
		return b.Service.Receive(t.Context(), s.signed(t, mailgunBody("one", fmt.Sprint("id", i))))
	}
	all := atOnce(n, send)
	wantOutcomes(t, all, 1, isError(gateway.ErrBodyReplayed))
	b.wantRows(t, rows{events: 1, keys: 2, requests: n - 1})
	again := atOnce(n, send) // the event itself may be told again
	wantOutcomes(t, again, 1, isError(gateway.ErrBodyReplayed))
	for i := range all {
		if all[i].err == nil && (again[i].err != nil || again[i].Events[0] != accept.Received{ID: all[i].Events[0].ID, Duplicate: true}) {
			t.Errorf("the first, again: %+v", again[i])
		}
	}
}

// mailgunBody is an event of Mailgun's, to be signed.
func mailgunBody(token, id string) string {
	return fmt.Sprintf(`{"signature":{"timestamp":"","token":%q,"signature":""},"event-data":{"event":"delivered","id":%q,"timestamp":1760000000.5}}`, token, id)
}

// In one transaction, a repeat is told of the first of its key; if that one is
// refused for its body, the repeat is an event of its own.
func TestARepeatOfWhatIsRefused(t *testing.T) {
	t.Parallel()
	first := newBundle(t, accept.Limits{})
	source := first.makeSource(t, gateway.Source{Kind: "github", Settings: []byte(guarded)})
	first.addSecret(t, source, proof)
	if _, err := first.Receive(t.Context(), signed(source, proof, "1", "seen")); err != nil {
		t.Fatal(err)
	}
	b := first.anew(accept.Limits{})
	ended := make([]chan outcome, 4)
	for i, in := range []accept.Incoming{
		signed(source, proof, "2", "seen"), signed(source, proof, "2", "new"), signed(source, proof, "3", "other"), signed(source, proof, "1", "seen"),
	} {
		ended[i] = make(chan outcome, 1)
		go func() {
			got, err := b.Service.Receive(t.Context(), in)
			ended[i] <- outcome{got, err}
		}()
		b.queued(i + 1)
	}
	b.start(t)
	if one := <-ended[0]; !isError(gateway.ErrBodyReplayed)(one.err) {
		t.Errorf("a body that was seen: %+v", one)
	}
	taken := <-ended[1]
	if taken.err != nil || taken.Events[0].Duplicate {
		t.Fatalf("its key, with another body: %+v", taken)
	}
	if one := <-ended[2]; one.err != nil || one.Events[0].Duplicate {
		t.Errorf("another event: %+v", one)
	}
	if one := <-ended[3]; one.err != nil || !one.Events[0].Duplicate {
		t.Errorf("a retry: %+v", one)
	}
	b.wantRows(t, rows{events: 3, keys: 6, requests: 2})
	if _, body := b.event(t, taken.Events[0].ID); string(body.Data) != "new" {
		t.Errorf("the event says %q", body.Data)
	}
}

// Requests in each other's way are done one by one, and all others of their
// transaction together: nobody can slow them down.
func TestARepeatOfWhatIsRefusedLeavesOthersTogether(t *testing.T) {
	t.Parallel()
	const others = 50
	b := newBundle(t, accept.Limits{})
	b.committed.fill()
	source := b.makeSource(t, gateway.Source{Kind: "github", Settings: []byte(guarded)})
	b.addSecret(t, source, proof)
	if _, err := b.Receive(t.Context(), signed(source, proof, "1", "seen")); err != nil {
		t.Fatal(err)
	}
	// One committer waits for the first key, and the other for the second, until
	// everybody is in the queue.
	held := make(chan error, 2)
	var release func()
	for i, key := range []string{"first", "second"} {
		release = b.hold(t, key+"0")
		b.queue(t.Context(), 1, held, key)
		b.waiting(t, i+1)
	}
	results := make(chan error, others)
	b.queue(t.Context(), others, results, "k")
	b.queued(others)
	ended := make(chan outcome, 3)
	for i, in := range []accept.Incoming{
		signed(source, proof, "2", "seen"), signed(source, proof, "2", "new"), signed(source, proof, "3", "seen"),
	} {
		go func() {
			got, err := b.Service.Receive(t.Context(), in)
			ended <- outcome{got, err}
		}()
		b.queued(others + i + 1)
	}
	before := b.count(t, `SELECT count(*) FROM river_job`)
	release()
	wantAll(t, errorsOf(held, 1), nil)
	wantAll(t, errorsOf(results, others), nil)
	wantOutcomes(t, []outcome{<-ended, <-ended, <-ended}, 1, isError(gateway.ErrBodyReplayed))
	if jobs := b.count(t, `SELECT count(*) FROM river_job`) - before; jobs != 3 {
		t.Errorf("%d transactions stored something, want one of the held key, one of the others, and one of the repeat", jobs)
	}
}

// A request of several events is refused whole, and gives back all its keys.
func TestReplayGuardOfSeveralEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid", Settings: []byte(guarded)})
	for round, test := range []struct {
		body string
		err  error
	}{
		{mails("", ""), nil}, {mails("", ""), gateway.ErrBodyReplayed}, // without keys every one is new
		{mails("a", "b", "a"), nil}, {mails("a", "b", "a"), nil}, // with keys they are repeats
		{mails("a", "c"), nil}, // of which one is new
	} {
		got, err := b.Service.Receive(t.Context(), s.signed(t, test.body))
		if (err == nil) != (test.err == nil) || err != nil && !isError(test.err)(err) {
			t.Errorf("round %d: %+v, %v", round, got, err)
		}
	}
	b.wantRows(t, rows{events: 5, keys: 3 + 3, requests: 1 + 1 + 1 + 1, raw: 3})
}
