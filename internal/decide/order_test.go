package decide_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
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

// However long ago a report came that is not decided yet, it is judged before
// those that came after it: its job may have been lost, or run at the same time.
func TestReportsAreJudgedInOrderHoweverLongAgo(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	source := b.ruled(t, stages)
	ids := b.come(t, source, report("m", "queued"), report("m", "sent"))
	ids[0] = b.backdate(t, ids[0], time.Hour)
	b.process(t, ids[1])
	b.process(t, ids[0])
	b.wantTold(t, "message.queued", "message.sent")
}

// backdate has an event have come earlier, and returns its new id.
func (b *bundle) backdate(t *testing.T, id gateway.EventID, by time.Duration) gateway.EventID {
	t.Helper()
	earlier := gateway.FirstIDAt[gateway.EventID](id.Time().Add(-by))
	copy(earlier[6:], id[6:])
	b.exec(t, `UPDATE events SET id = $1 WHERE id = $2`, earlier, id)
	b.exec(t, `UPDATE event_bodies SET id = $1 WHERE id = $2`, earlier, id)
	return earlier
}

// much stores more undecided reports than one transaction decides, and returns
// the last, which tells of a subject that the first told of.
func (b *bundle) much(t *testing.T) (all []gateway.EventID, last gateway.EventID) {
	t.Helper()
	source := b.ruled(t, stages)
	var reports []string
	for i := range 1200 {
		reports = append(reports, report(strconv.Itoa(i), "queued"))
	}
	all = b.come(t, source, append(reports, report("0", "delivered"))...)
	return all, all[len(all)-1]
}

// However much came before a report, all of it is judged before.
func TestMuchIsJudgedInOrder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	all, last := b.much(t)
	b.process(t, last)
	b.wantCount(t, len(all), `SELECT count(*) FROM events WHERE status = 'processed'`)
	b.wantCount(t, len(all), `SELECT sum(events)::int FROM usage`)
}

// What was offered does not wait for much that came before it: it gets a job, which
// does.
func TestAnOfferWaitsForNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	all, last := b.much(t)
	const jobs = `SELECT count(*) FROM river_job WHERE kind = 'process' AND args->'event_ids' = to_jsonb(ARRAY[$1::text])`
	had := b.count(t, jobs, last.String())
	if err := b.ProcessOffer(t.Context(), []gateway.EventID{last}); err != nil {
		t.Fatal(err)
	}
	b.wantCount(t, len(all), `SELECT count(*) FROM events WHERE status = 'accepted'`)
	b.wantCount(t, had+1, jobs, last.String())
	b.process(t, all[len(all)-1200:1000]...)
	if err := b.ProcessOffer(t.Context(), []gateway.EventID{last}); err != nil {
		t.Fatal(err)
	}
	b.wantCount(t, len(all), `SELECT count(*) FROM events WHERE status = 'processed'`)
	b.wantCount(t, had+1, jobs, last.String())
}

// Who waits for somebody else who decides events of the source goes on waiting,
// and decides nothing out of its order.
func TestJobsAwaitTheirTurn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	ids := b.come(t, b.ruled(t, stages), report("m", "queued"), report("m", "sent"))
	impatient := b.impatient(t)
	decided := make(chan error, 1)
	b.in(t, func(tx store.Tx) error {
		if _, _, err := tx.InOrder(t.Context(), ids[:1]); err != nil {
			return err
		}
		go func() { decided <- impatient.Process(t.Context(), ids[1:]) }()
		if err := b.untilTriedAgain(t); err != nil {
			return err
		}
		b.wantStatus(t, gateway.EventAccepted, ids...)
		return impatient.ProcessOffer(t.Context(), ids[1:])
	})
	if err := <-decided; err != nil {
		t.Error(err)
	}
	b.wantTold(t, "message.queued", "message.sent")
}

// impatient is a service of another node, which waits for locks for a moment only.
func (b *bundle) impatient(t *testing.T) *decide.Service {
	t.Helper()
	config := b.pool.Config()
	config.ConnConfig.RuntimeParams["lock_timeout"] = "50ms"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	log := slog.New(slog.DiscardHandler)
	other, err := store.New(pool, pgtest.Sealer(t), log)
	if err != nil {
		t.Fatal(err)
	}
	return decide.New(decide.Options{Store: other, Clock: b.clock, Log: log, Node: "n2"})
}

// untilTriedAgain waits until a second transaction waits for a lock that a first
// has not had in time.
func (b *bundle) untilTriedAgain(t *testing.T) error {
	t.Helper()
	const waiting = `SELECT coalesce(max(xact_start), '-infinity') FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory' AND xact_start > $1`
	var first, second pgtype.Timestamptz
	first = pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for seen := 0; seen < 2; {
		if err := b.pool.QueryRow(ctx, waiting, first).Scan(&second); err != nil {
			return err
		}
		if second.InfinityModifier == pgtype.Finite {
			seen, first = seen+1, second
		}
	}
	return nil
}

// An event that cannot be decided holds up none that came after it, and after a
// while it does not mix up their order.
func TestABadReportHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	source := b.ruled(t, stages)
	ids := b.come(t, source, report("bad", "queued"), report("m", "queued"), report("m", "sent"), report("n", "queued"), report("n", "sent"))
	b.poison(t, ids[0])
	b.process(t, ids[2])
	b.wantStatus(t, gateway.EventProcessed, ids[2])
	b.wantStatus(t, gateway.EventAccepted, ids[0])
	b.exec(t, `UPDATE events SET sweeps = 2 WHERE id = $1`, ids[0])
	b.process(t, ids[4])
	b.wantStatus(t, gateway.EventProcessed, ids[3], ids[4])
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
