package decide_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// stages is the rule of a source whose reports have an order.
var stages = gateway.Rule{
	Subject: "body.message", State: "body.status", Emit: `"message." + body.status`,
	Rank: []string{"queued", "sent", "delivered"}, Terminal: []string{"delivered"},
}

// A job that decides the last report decides those before it, first.
func TestReportsAreJudgedInOrder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	source := b.ruled(t, stages)
	ids := b.come(t, source, report("m", "queued"), report("m", "sent"), report("m", "delivered"))
	b.process(t, ids[2])
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantTold(t, "message.queued", "message.sent", "message.delivered")
	b.process(t, ids...)
	b.wantCount(t, 3, `SELECT sum(events)::int FROM usage`)
}

// Nothing is taken along that came after an event, that has no fact to tell, or
// that waits for its time.
func TestOnlyReportsBeforeAreTakenAlong(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	source := b.ruled(t, stages)
	plain := b.accept(t, 1, "a")
	waits := b.come(t, source, report("m", "sent"))
	b.exec(t, `UPDATE events SET wait_until = now() + interval '1 hour' WHERE id = $1`, waits[0])
	first := b.come(t, source, report("m", "queued"))
	after := b.come(t, source, report("m", "delivered"))
	b.process(t, first...)
	b.wantStatus(t, gateway.EventProcessed, first...)
	b.wantStatus(t, gateway.EventAccepted, plain[0], waits[0], after[0])
	b.process(t, plain...)
	b.wantStatus(t, gateway.EventAccepted, waits[0], after[0])
}

// An event that cannot be decided holds up none that came after it.
func TestABadReportHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	source := b.ruled(t, stages)
	ids := b.come(t, source, report("bad", "queued"), report("m", "queued"), report("m", "sent"))
	b.poison(t, ids[0])
	b.process(t, ids[2])
	b.wantStatus(t, gateway.EventProcessed, ids[2])
	b.wantStatus(t, gateway.EventAccepted, ids[0])
}

// However many jobs decide at once, and in whichever order they begin, no report
// that came in order is too late.
func TestReportsAreJudgedInOrderAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	sources := []gateway.SourceID{b.ruled(t, stages), b.ruled(t, stages), b.ruled(t, stages)}
	var ids []gateway.EventID
	for _, state := range stages.Rank {
		for i := range 30 {
			ids = append(ids, b.come(t, sources[i%3], report(strconv.Itoa(i), state))...)
		}
	}
	jobs := make([][]gateway.EventID, 0, len(ids))
	for range 2 * len(ids) { // each is decided twice or so, in lots of a few sources
		jobs = append(jobs, []gateway.EventID{ids[rand.IntN(len(ids))], ids[rand.IntN(len(ids))]})
	}
	jobs = append(jobs, ids)
	var all sync.WaitGroup
	next := make(chan []gateway.EventID)
	for range 8 {
		all.Go(func() {
			for lot := range next {
				if err := b.Process(t.Context(), lot); err != nil {
					t.Errorf("decide: %v", err)
				}
			}
		})
	}
	for _, lot := range jobs {
		next <- lot
	}
	close(next)
	all.Wait()
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantCount(t, len(ids), `SELECT sum(events)::int FROM usage`)
}
