package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// receipts is the rule of a source that reports what became of messages.
var receipts = gateway.Rule{
	Subject: "body.message", State: "body.status", Emit: `"message." + body.status`,
	Terminal: []string{"delivered", "failed"},
}

// ruled makes a source with a rule.
func (b *bundle) ruled(t *testing.T, rule gateway.Rule) gateway.SourceID {
	t.Helper()
	id := gateway.SourceID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateSource(t.Context(), b.account, gateway.Source{ID: id, Name: "carrier", Kind: "none", Token: id.String()})
		return err
	})
	b.setRule(t, id, &rule)
	return id
}

func (b *bundle) setRule(t *testing.T, source gateway.SourceID, rule *gateway.Rule) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		_, err := tx.SetSourceRule(t.Context(), b.account, source, rule)
		return err
	})
}

// come stores events of a source with these bodies, without a job.
func (b *bundle) come(t *testing.T, source gateway.SourceID, bodies ...string) []gateway.EventID {
	t.Helper()
	ids := make([]gateway.EventID, len(bodies))
	events := make([]store.NewEvent, len(bodies))
	for i, text := range bodies {
		ids[i] = gateway.EventID(b.clock.NewID())
		events[i] = store.NewEvent{
			Event: gateway.Event{ID: ids[i], AccountID: b.account, SourceID: source, Type: gateway.DefaultEventType, Status: gateway.EventAccepted},
			Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(text)},
		}
	}
	b.in(t, func(tx store.Tx) error { return tx.InsertEvents(t.Context(), events) })
	return ids
}

// report is the body of a receipt.
func report(message, status string) string {
	return fmt.Sprintf(`{"message":%q,"status":%q}`, message, status)
}

// told lists the types of the events that have a delivery, in the order in which
// they came.
func (b *bundle) told(t *testing.T) []string {
	t.Helper()
	lines, err := b.store.DeliveryLines(t.Context(), b.account, store.DeliveryFilter{}, store.Page[gateway.DeliveryID]{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(lines, func(a, b store.DeliveryLine) int { return a.EventID.Compare(b.EventID) })
	var types []string
	for _, l := range lines {
		types = append(types, l.EventType)
	}
	return types
}

func (b *bundle) wantTold(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, b.told(t)); diff != "" {
		t.Errorf("told: %s", diff)
	}
}

// fact reads what a source knows of a subject.
func (b *bundle) fact(t *testing.T, source gateway.SourceID, subject string) gateway.Fact {
	t.Helper()
	f, err := b.store.FactOf(t.Context(), b.account, source, subject)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The row of the failure table: a message is reported delivered under the event
// ids A and B, then failed under C, then the job runs twice.
func TestAMessageIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]bool{"in one job": true, "each in its own": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			b.endpoint(t, "message.*")
			source := b.ruled(t, receipts)
			ids := b.come(t, source, report("m1", "delivered"), report("m1", "delivered"), report("m1", "failed"))
			for range 2 {
				if together {
					b.process(t, ids...)
					continue
				}
				for _, id := range ids {
					b.process(t, id)
				}
			}
			b.wantTold(t, "message.delivered")
			b.wantStatus(t, gateway.EventProcessed, ids[0])
			b.wantStatus(t, gateway.EventDuplicateFact, ids[1])
			b.wantStatus(t, gateway.EventStaleFact, ids[2])
			if got, want := b.event(t, ids[1]).Decision, "that m1 is delivered was told before"; got != want {
				t.Errorf("of B it says %q", got)
			}
			if got, want := b.event(t, ids[2]).Decision, "the last word on m1 is delivered, by "+ids[0].String()+": failed comes too late"; got != want {
				t.Errorf("of C it says %q", got)
			}
			if f := b.fact(t, source, "m1"); f.State != "delivered" || !f.Terminal || f.EventID != ids[0] || len(f.Seen) != 1 {
				t.Errorf("the fact is %+v", f)
			}
			e := b.event(t, ids[0])
			if e.Type != "message.delivered" || *e.ReceivedType != gateway.DefaultEventType || *e.Subject != "m1" || *e.State != "delivered" || e.FactID == nil {
				t.Errorf("the event is %+v", e)
			}
			if b.event(t, ids[1]).FactID != nil {
				t.Error("a repeat says that it set the fact")
			}
			b.wantCount(t, 3, `SELECT coalesce(sum(events), 0)::int FROM usage`)
		})
	}
}

// queued, sent, queued again tells queued once.
func TestAStateIsToldOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	ids := b.come(t, b.ruled(t, receipts), report("m1", "queued"), report("m1", "sent"), report("m1", "queued"), report("m2", "queued"))
	b.process(t, ids...)
	b.wantTold(t, "message.queued", "message.sent", "message.queued")
	b.wantStatus(t, gateway.EventDuplicateFact, ids[2])
	b.wantStatus(t, gateway.EventProcessed, ids[3])
}

// A state that comes before the one that was told is not told, whether it was
// told before or not. What has no rank goes through.
func TestStatesDoNotGoBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	rule := receipts
	rule.Rank = []string{"queued", "sent", "delivered"}
	source := b.ruled(t, rule)
	ids := b.come(t, source, report("m1", "sent"), report("m1", "queued"), report("m1", "bounced"), report("m1", "delivered"))
	b.process(t, ids...)
	b.wantTold(t, "message.sent", "message.bounced", "message.delivered")
	if e := b.event(t, ids[1]); e.Status != gateway.EventStaleFact || e.Decision != "the state of m1 is sent, by "+ids[0].String()+": queued comes before that" {
		t.Errorf("%s, %q", e.Status, e.Decision)
	}
}

// Where a rule says so a state is told again, but for the last word.
func TestStatesThatRepeat(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	rule := receipts
	rule.Repeats, rule.Rank = true, []string{"queued", "sent"}
	source := b.ruled(t, rule)
	ids := b.come(t, source, report("m1", "queued"), report("m1", "queued"), report("m1", "sent"), report("m1", "queued"), report("m1", "delivered"), report("m1", "delivered"))
	b.process(t, ids...)
	b.wantTold(t, "message.queued", "message.queued", "message.sent", "message.delivered")
	b.wantStatus(t, gateway.EventDuplicateFact, ids[3], ids[5])
	if diff := cmp.Diff([]string{"queued", "sent", "delivered"}, b.fact(t, source, "m1").Seen); diff != "" {
		t.Error(diff)
	}
}

// Twenty reports of one fact, decided at once, each by a job of its own or by
// jobs that share many: one is told.
func TestAFactIsToldOnceWhoeverReportsIt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	source := b.ruled(t, receipts)
	var bodies []string
	for range 20 {
		bodies = append(bodies, report("m1", "delivered"))
	}
	ids := b.come(t, source, bodies...)
	pgtest.AtOnce(20, func(i int) {
		if err := b.Process(t.Context(), ids[i:i+1]); err != nil {
			t.Error(err)
		}
	})
	b.wantTold(t, "message.delivered")
	b.wantCount(t, 19, `SELECT count(*) FROM events WHERE status = 'duplicate_fact'`)
	b.wantCount(t, 1, `SELECT count(*) FROM events WHERE fact_id IS NOT NULL`)
}

// Jobs that share subjects, in every order, do not wait for each other in a
// circle, and each subject ends with one last word.
func TestJobsThatShareSubjects(t *testing.T) {
	t.Parallel()
	const jobs, subjects = 20, 12
	b := newBundleOf(t, jobs)
	b.endpoint(t)
	first, second := b.ruled(t, receipts), b.ruled(t, receipts)
	batches := make([][]gateway.EventID, jobs)
	for i := range batches {
		for _, source := range []gateway.SourceID{first, second} {
			var bodies []string
			for _, n := range rand.Perm(subjects) {
				bodies = append(bodies, report(fmt.Sprintf("m%d", n), []string{"sent", "delivered", "failed"}[(n+i)%3]))
			}
			batches[i] = append(batches[i], b.come(t, source, bodies...)...)
		}
	}
	var failed atomic.Int32
	pgtest.AtOnce(jobs, func(i int) {
		if err := b.Process(t.Context(), batches[i]); err != nil {
			failed.Add(1)
			t.Error(err)
		}
	})
	b.wantCount(t, 2*subjects, `SELECT count(*) FROM facts WHERE terminal`)
	b.wantCount(t, 2*subjects, `SELECT count(*) FROM events WHERE status = 'processed' AND reported IN ('delivered', 'failed')`)
	b.wantCount(t, 0, `SELECT count(*) FROM (SELECT FROM events WHERE status = 'processed' GROUP BY source_id, subject, reported HAVING count(*) > 1) twice`)
}

// A receipt that comes before its message is told once, after it.
func TestAReceiptWaitsForItsMessage(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t, "message.*")
	rule := receipts
	rule.RequiresExisting = true
	receipt := b.come(t, b.ruled(t, rule), report("m1", "delivered"))[0]
	for range 2 { // a job that runs again does not try before the time
		b.process(t, receipt)
	}
	e := b.event(t, receipt)
	if e.Status != gateway.EventAccepted || e.WaitUntil == nil || e.Decision != "nothing else has told of m1 yet: it is looked for again after 1 s" {
		t.Errorf("the receipt is %s until %v: %q", e.Status, e.WaitUntil, e.Decision)
	}
	b.wantCount(t, 1, `SELECT count(*) FROM events WHERE waits = 1 AND wait_until = decide_after`)
	b.wantCount(t, 1, `SELECT count(*) FROM river_job WHERE kind = 'process' AND state = 'available' AND scheduled_at = (SELECT wait_until FROM events)`)
	b.wantCount(t, 0, `SELECT count(*) FROM facts`)
	b.wantUsage(t, 0)

	b.publish(t, "message.created", "m1")
	b.afterWait(t, receipt)
	b.wantStatus(t, gateway.EventProcessed, receipt)
	b.wantTold(t, "message.delivered", "message.created") // in the order in which they came in
	b.wantCount(t, 1, `SELECT count(*) FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.type = 'message.created' AND d.created_at < (
		SELECT created_at FROM deliveries WHERE event_id = $1)`, receipt)
}

// publish decides an event of the account's own applications.
func (b *bundle) publish(t *testing.T, eventType, subject string) gateway.EventID {
	t.Helper()
	id := gateway.EventID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		return tx.InsertEvents(t.Context(), []store.NewEvent{{
			Event: gateway.Event{ID: id, AccountID: b.account, SourceID: b.source, Type: eventType, Subject: &subject, Status: gateway.EventAccepted},
			Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(body)},
		}})
	})
	b.process(t, id)
	return id
}

// afterWait decides an event when the time is over for which it was put off.
func (b *bundle) afterWait(t *testing.T, id gateway.EventID) {
	t.Helper()
	b.exec(t, `UPDATE events SET wait_until = now(), decide_after = now() WHERE id = $1`, id)
	b.process(t, id)
}

// Its message never comes: it ends unresolved after all waits, and the button
// tries again at once.
func TestAReceiptWithoutItsMessage(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	rule := receipts
	rule.RequiresExisting = true
	source := b.ruled(t, rule)
	ids := b.come(t, source, report("m1", "sent"), report("m1", "delivered"))
	b.process(t, ids...)
	for n, wait := range gateway.FactWaits {
		b.wantStatus(t, gateway.EventAccepted, ids...)
		b.wantCount(t, 2, `SELECT count(*) FROM events WHERE waits = $1 AND wait_until > now() + $2::interval - interval '20 s' AND wait_until <= now() + $2::interval`, n+1, wait)
		b.exec(t, `UPDATE events SET wait_until = now()`)
		b.process(t, ids...)
	}
	b.wantStatus(t, gateway.EventUnresolved, ids...)
	if got := b.event(t, ids[0]).Decision; got != "nothing else has told of m1" {
		t.Errorf("it says %q", got)
	}
	b.wantCount(t, 2, `SELECT coalesce(sum(events), 0)::int FROM usage`)
	b.reprocess(t, ids[1])
	b.wantStatus(t, gateway.EventUnresolved, ids[1])
	b.publish(t, "message.created", "m1")
	for range 2 {
		for _, id := range ids {
			if b.event(t, id).Status == gateway.EventUnresolved {
				b.reprocess(t, id)
			}
		}
	}
	b.wantTold(t, "message.sent", "message.delivered", "message.created")
	b.wantCount(t, 3, `SELECT coalesce(sum(events), 0)::int FROM usage`)
}

// reprocess presses the button, and does what its job would.
func (b *bundle) reprocess(t *testing.T, id gateway.EventID) {
	t.Helper()
	if err := b.Reprocess(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	b.process(t, id)
}

// What makes a subject known: a fact of another source, an event that is about
// it and reports nothing, one before it in the same job; and what does not.
func TestWhatMakesASubjectKnown(t *testing.T) {
	t.Parallel()
	rule := receipts
	rule.RequiresExisting = true
	rule.State = `has(body.status) ? body.status : null`
	rule.Emit = ""
	const about = `{"message":"m1"}`
	waits, goes := gateway.EventAccepted, gateway.EventProcessed
	for name, c := range map[string]struct {
		before func(t *testing.T, b *bundle, source gateway.SourceID)
		bodies []string
		want   []gateway.EventStatus
	}{
		"nothing":         {nil, []string{report("m1", "sent")}, []gateway.EventStatus{waits}},
		"another report":  {nil, []string{report("m1", "sent"), report("m1", "delivered")}, []gateway.EventStatus{waits, waits}},
		"itself in a job": {nil, []string{about, report("m1", "sent")}, []gateway.EventStatus{goes, goes}},
		"after it":        {nil, []string{report("m1", "sent"), about}, []gateway.EventStatus{waits, goes}},
		"another subject": {nil, []string{`{"message":"m2"}`, report("m1", "sent")}, []gateway.EventStatus{goes, waits}},
		"a fact of another source": {func(t *testing.T, b *bundle, _ gateway.SourceID) {
			b.process(t, b.come(t, b.ruled(t, receipts), report("m1", "queued"))...)
			b.exec(t, `DELETE FROM events`)
		}, []string{report("m1", "sent")}, []gateway.EventStatus{goes}},
		"an event that is held": {func(t *testing.T, b *bundle, _ gateway.SourceID) {
			b.exec(t, `UPDATE events SET status = 'held' WHERE id = $1`, b.publish(t, "x", "m1"))
		}, []string{report("m1", "sent")}, []gateway.EventStatus{waits}},
		"an event of another account": {func(t *testing.T, b *bundle, _ gateway.SourceID) {
			mine, source := b.account, b.source
			b.account, b.source = b.newAccount(t, "other")
			b.publish(t, "x", "m1")
			b.account, b.source = mine, source
		}, []string{report("m1", "sent")}, []gateway.EventStatus{waits}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			b.endpoint(t)
			source := b.ruled(t, rule)
			if c.before != nil {
				c.before(t, b, source)
			}
			ids := b.come(t, source, c.bodies...)
			b.process(t, ids...)
			for i, id := range ids {
				b.wantStatus(t, c.want[i], id)
			}
		})
	}
}

// An event whose fact was new, and that nobody asked for, is told when an
// endpoint is there, whatever was told since.
func TestAFactThatNobodyAskedForIsToldLater(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.come(t, b.ruled(t, receipts), report("m1", "sent"), report("m1", "delivered"))
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventNoEndpoints, ids...)
	b.endpoint(t, "message.*")
	for _, id := range ids {
		b.reprocess(t, id)
	}
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantTold(t, "message.sent", "message.delivered")
}

// A rule that fails is told, and its event is decided when it is mended.
func TestARuleThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule gateway.Rule
		want string
	}{
		"subject": {gateway.Rule{Subject: "body.messag"}, "the rule's subject has no answer: no such key: messag"},
		"state":   {gateway.Rule{Subject: "body.message", State: "body.list"}, "the rule's state has no answer: it comes out as a list, not as a text or a whole number"},
		"emit":    {gateway.Rule{Emit: "body.status + '!'"}, "the rule's emit has no answer: it comes out as no type of events: want 1 to 256 letters, digits, _ . : / or -, not beginning with a sign"},
		"ours":    {gateway.Rule{Emit: "'rowlock.' + body.status"}, "the rule's emit has no answer: it comes out as no type of events: types that begin with rowlock. are Rowlock's own"},
		"not CEL": {gateway.Rule{Subject: "body."}, "the rule cannot be compiled: subject: line 1, column 6: '.' is not expected here"},
		"empty":   {gateway.Rule{Subject: "''"}, "the rule's subject has no answer: it comes out empty"},
		"null":    {gateway.Rule{Subject: "body.?none.orValue(null)"}, "the rule's subject has no answer: it comes out as null, not as a text or a whole number"},
		"NUL":     {gateway.Rule{Subject: `"a\u0000"`}, "the rule's subject has no answer: it comes out with a NUL character"},
		"long":    {gateway.Rule{Subject: "body.long"}, "the rule's subject has no answer: it comes out longer than 1024 bytes"},
		"huge":    {gateway.Rule{Subject: huge}, "the rule's subject has no answer: it takes too many steps for an event like this"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			b.endpoint(t)
			source := b.ruled(t, c.rule)
			fine := b.come(t, b.source, "{}")[0]
			id := b.come(t, source, `{"message":"m1","status":"sent","list":[1],"long":"`+strings.Repeat("x", 1025)+`"}`)[0]
			b.process(t, id, fine)
			if e := b.event(t, id); e.Status != gateway.EventRuleError || e.Decision != c.want || e.Type != gateway.DefaultEventType {
				t.Errorf("%s %s, %q", e.Type, e.Status, e.Decision)
			}
			b.wantStatus(t, gateway.EventProcessed, fine)
			b.wantCount(t, 0, `SELECT count(*) FROM facts`)
			b.setRule(t, source, &receipts)
			b.reprocess(t, id)
			b.wantTold(t, gateway.DefaultEventType, "message.sent")
			b.wantCount(t, 2, `SELECT coalesce(sum(events), 0)::int FROM usage`)
		})
	}
}

// huge would put a text of a GiB together.
var huge = func() string {
	text := "body.long"
	for range 20 {
		text = "[" + text + "].map(x, x + x)[0]"
	}
	return text
}()

// What a rule lets nobody know of is ignored, and its fact counts.
func TestWhatIsEmitted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	rule := receipts
	rule.Emit = `body.status == "failed" ? null : type + "." + subject`
	source := b.ruled(t, rule)
	ids := b.come(t, source, report("m1", "failed"), report("m1", "delivered"), report("m2", "delivered"))
	b.process(t, ids...)
	b.wantTold(t, gateway.DefaultEventType+".m2")
	if e := b.event(t, ids[0]); e.Status != gateway.EventIgnored || e.Decision != "the rule emits nothing for it" || e.ReceivedType != nil {
		t.Errorf("%+v", e)
	}
	b.wantStatus(t, gateway.EventStaleFact, ids[1])
}

// Whole numbers are exact subjects.
func TestSubjectsAreExact(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	rule := receipts
	ids := b.come(t, b.ruled(t, rule), `{"message":9007199254740992,"status":"sent"}`, `{"message":9007199254740993,"status":"sent"}`, `{"message":1.50,"status":"sent"}`)
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventProcessed, ids...)
	for i, want := range []string{"9007199254740992", "9007199254740993", "1.50"} {
		if got := *b.event(t, ids[i]).Subject; got != want {
			t.Errorf("subject %s, want %s", got, want)
		}
	}
}

// Filters and patterns see what the event is told as.
func TestWhatIsMatched(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.filtered(t, `type == "message.sent" && subject == "m1" && body.message == subject`, "message.*")
	b.endpoint(t, gateway.DefaultEventType)
	ids := b.come(t, b.ruled(t, receipts), report("m1", "sent"), report("m2", "sent"))
	b.process(t, ids...)
	b.wantTold(t, "message.sent")
	b.wantStatus(t, gateway.EventNoEndpoints, ids[1])
}

// An event whose rule is gone when it is decided again is told as what came in.
func TestARuleThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.ruled(t, receipts)
	id := b.come(t, source, report("m1", "sent"))[0]
	b.process(t, id)
	if got := b.event(t, id).Type; got != "message.sent" {
		t.Errorf("type %s", got)
	}
	b.setRule(t, source, nil)
	b.endpoint(t)
	b.reprocess(t, id)
	b.wantTold(t, gateway.DefaultEventType)
	if e := b.event(t, id); e.ReceivedType != nil {
		t.Errorf("%s was %s", e.Type, *e.ReceivedType)
	}
}

// A key that could not be read when its event came in is claimed when the rule is
// mended; what came before under it was told already.
func TestAKeyThatIsReadLate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	source := b.ruled(t, gateway.Rule{Key: "body.idd", Type: "body.typ"})
	ids := b.come(t, source, `{"id":1,"type":"a"}`, `{"id":1,"type":"a"}`, `{"id":2,"type":"b"}`)
	b.exec(t, `UPDATE events SET rule_failed = true`)
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventRuleError, ids...)
	b.setRule(t, source, &gateway.Rule{Key: "body.id", Type: "body.type"})
	pgtest.AtOnce(len(ids), func(i int) {
		if err := b.Reprocess(t.Context(), b.account, actor, ids[i]); err != nil {
			t.Error(err)
		}
		if err := b.Process(t.Context(), ids[i:i+1]); err != nil {
			t.Error(err)
		}
	})
	b.wantTold(t, "a", "b")
	b.wantCount(t, 1, `SELECT count(*) FROM events WHERE status = 'ignored' AND decision LIKE 'its key was accepted before, with evt_%'`)
	b.wantCount(t, 2, `SELECT count(*) FROM events WHERE NOT rule_failed AND key IS NOT NULL`)
}

// Rules that take all the steps that there are cost no other event of the job its
// turn, also where the job is decided in halves for them.
func TestDearRules(t *testing.T) {
	t.Parallel()
	const dear = 12
	b := newBundle(t)
	b.endpoint(t)
	source := b.ruled(t, gateway.Rule{Emit: `[1,2,3,4,5,6,7,8,9].map(a, body.l.map(b, body.l.map(c, b + c)))[0][0][0] > 0 ? "a" : "b"`})
	var numbers []string
	for i := range 200 {
		numbers = append(numbers, fmt.Sprint(i))
	}
	bodies := slices.Repeat([]string{`{"l":[` + strings.Join(numbers, ",") + `]}`}, dear)
	ids := append(b.come(t, source, bodies...), b.accept(t, 5, "x")...)
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventRuleError, ids[:dear]...)
	b.wantStatus(t, gateway.EventProcessed, ids[dear:]...)
}
