package operate_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/store"
)

// missing asks for what an endpoint never got in the last hour.
func (b *bundle) missing(endpoint gateway.EndpointID) operate.Request {
	return operate.Request{
		Kind: gateway.OperationRecoverMissing, Filter: gateway.OperationFilter{Endpoint: &endpoint, Since: b.hourAgo()},
	}
}

// wantCounted fails unless so many are counted before the question is asked.
func (b *bundle) wantCounted(t *testing.T, want int, r operate.Request) {
	t.Helper()
	n, exact, err := b.Count(t.Context(), b.account, r)
	if n != want || !exact || err != nil {
		t.Errorf("counted %d, %t, %v; want %d", n, exact, err, want)
	}
}

// Events that an endpoint asks for and never got are made for it, once, those
// included that nobody had asked for.
func TestRecoverMissing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, nil)
	other := b.endpoint(t, r.URL)
	b.queued(t, other, 600)
	b.events(t, 700, eventType, gateway.EventNoEndpoints)
	b.events(t, 5, "invoice.paid", gateway.EventNoEndpoints)
	b.events(t, 5, eventType, gateway.EventIgnored)
	b.events(t, 5, gateway.OwnTypePrefix+"x", gateway.EventNoEndpoints)
	deleted := b.events(t, 1, eventType, gateway.EventNoEndpoints)
	b.exec(t, `UPDATE events SET payload_deleted_at = now() WHERE id = $1`, deleted[0])
	e := b.endpoint(t, r.URL, "order.*")
	got := b.queued(t, e, 3)
	b.exec(t, `UPDATE deliveries SET status = 'cancelled', closed_at = now(), next_attempt_at = NULL WHERE id = ANY ($1)`, got)
	b.wantCounted(t, 1300, b.missing(e))
	first, second := b.start(t, b.missing(e)), b.start(t, b.missing(e))
	b.delivering(t)
	one := b.work(t, first)
	two := b.work(t, second)
	if one.State != gateway.OperationDone || one.Done != 1300 || two.Done != 0 {
		t.Errorf("%+v, then %+v", one, two)
	}
	b.untilCount(t, 1300, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'delivered' AND attempts = 1`, e)
	b.wantCount(t, 700+600+3, `SELECT count(*) FROM events WHERE status = 'processed'`)
	b.wantCounted(t, 0, b.missing(e))
}

func TestRecoverMissingStopped(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.events(t, 2000, eventType, gateway.EventNoEndpoints)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	id := b.start(t, b.missing(e))
	if err := b.Run(t.Context(), b.account, id); err != nil { // up to the window: nobody delivers
		t.Fatal(err)
	}
	if _, err := b.Cancel(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	if o := b.work(t, id); o.Restored != 1000 || o.Done > 1200 {
		t.Errorf("%+v", o)
	}
	b.wantCount(t, 0, `SELECT count(*) FROM deliveries`)
	// What was put back is missing as before, and the next one makes it.
	b.wantCounted(t, 2000, b.missing(e))
}

func TestRecoverMissingAtAnEndpointThatIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.events(t, 2000, eventType, gateway.EventNoEndpoints)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	id := b.start(t, b.missing(e))
	if err := b.Run(t.Context(), b.account, id); err != nil {
		t.Fatal(err)
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, e) })
	wantNumbers(t, b.work(t, id), gateway.OperationDone, 2000, 1000, 1000)
}

// By any filter, and by single ones.
func TestRedeliver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, two := b.endpoint(t, "http://127.0.0.1:1/"), b.endpoint(t, "http://127.0.0.1:1/")
	failed := b.failed(t, one, 20)
	b.failed(t, two, 5)
	timedOut := b.failed(t, two, 3)
	b.exec(t, `UPDATE deliveries SET last_outcome = 'unreachable', last_error_kind = 'timeout', last_status_code = 0 WHERE id = ANY ($1)`, timedOut)
	delivered := b.failed(t, one, 4)
	b.exec(t, `UPDATE deliveries SET status = 'delivered', last_outcome = 'succeeded', last_status_code = 200 WHERE id = ANY ($1)`, delivered)
	cancelled := b.failed(t, one, 2)
	b.exec(t, `UPDATE deliveries SET status = 'cancelled', last_outcome = NULL, last_status_code = 0 WHERE id = ANY ($1)`, cancelled)
	b.queued(t, one, 7)
	event := b.eventOf(t, failed[0])
	since, until := failed[5].Time(), failed[5].Time().Add(time.Millisecond)
	between := b.count(t, `SELECT count(*) FROM deliveries WHERE id >= $1 AND id < $2 AND closed_at IS NOT NULL`,
		gateway.FirstIDAt[gateway.DeliveryID](since), gateway.FirstIDAt[gateway.DeliveryID](until))
	for name, c := range map[string]struct {
		filter gateway.OperationFilter
		want   int
	}{
		"endpoint":            {gateway.OperationFilter{Endpoint: &one}, 26},
		"failed":              {gateway.OperationFilter{Status: gateway.DeliveryFailed}, 28},
		"failed of endpoint":  {gateway.OperationFilter{Status: gateway.DeliveryFailed, Endpoint: &two}, 8},
		"delivered":           {gateway.OperationFilter{Status: gateway.DeliveryDelivered}, 4},
		"status code":         {gateway.OperationFilter{StatusCode: 503}, 25},
		"kind":                {gateway.OperationFilter{ErrorKind: gateway.ErrorTimeout}, 3},
		"unreachable":         {gateway.OperationFilter{Outcome: gateway.OutcomeUnreachable, Status: gateway.DeliveryFailed}, 3},
		"succeeded":           {gateway.OperationFilter{Outcome: gateway.OutcomeSucceeded}, 4},
		"event":               {gateway.OperationFilter{Event: &event}, 1},
		"event of another":    {gateway.OperationFilter{Event: &event, Endpoint: &two}, 0},
		"between":             {gateway.OperationFilter{Since: since, Until: until}, between},
		"single ones":         {gateway.OperationFilter{Deliveries: append(slices.Clone(timedOut), cancelled[0])}, 4},
		"single, failed ones": {gateway.OperationFilter{Deliveries: append(slices.Clone(timedOut), cancelled[0]), Status: gateway.DeliveryFailed}, 3},
		"all":                 {gateway.OperationFilter{Since: b.hourAgo()}, 34},
	} {
		r := operate.Request{Kind: gateway.OperationRedeliver, Filter: c.filter}
		if n, exact, err := b.Count(t.Context(), b.account, r); n != c.want || !exact || err != nil {
			t.Errorf("%s: counted %d, %t, %v; want %d", name, n, exact, err, c.want)
		}
		r.DryRun = true
		if o := b.work(t, b.start(t, r)); o.State != gateway.OperationDone || o.Total != c.want || o.Done != 0 {
			t.Errorf("%s: %+v, want %d", name, o, c.want)
		}
	}
	b.wantCount(t, 0, `SELECT count(*) FROM events WHERE type = $1`, gateway.TypeOperationDone) // nothing was done
	b.wantCount(t, 0, `SELECT count(*) FROM audit_log`)
	r := operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{Deliveries: append(slices.Clone(timedOut), cancelled[0])}}
	wantNumbers(t, b.work(t, b.start(t, r)), gateway.OperationDone, 4, 4, 0)
	b.wantCount(t, 3, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending' AND priority = 2`, two)
	b.wantCount(t, 1, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'pending' AND priority = 2`, one)
}

func (b *bundle) eventOf(t *testing.T, id gateway.DeliveryID) gateway.EventID {
	t.Helper()
	d, err := b.store.Delivery(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return d.EventID
}

// Of several endpoints, one that takes nothing does not hold up the others.
func TestASlowEndpointHoldsUpNobody(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, nil)
	slow, quick := b.endpoint(t, "http://127.0.0.1:1/"), b.endpoint(t, r.URL)
	b.exec(t, `UPDATE lanes SET sleep_until = now() + interval '1 h' WHERE endpoint_id = $1`, slow)
	for range 20 {
		b.failed(t, slow, 100)
		b.failed(t, quick, 100)
	}
	b.delivering(t)
	o := b.work(t, b.start(t, operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{Status: gateway.DeliveryFailed}}))
	wantNumbers(t, o, gateway.OperationDone, 4000, 4000, 0)
	b.untilCount(t, 2000, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'delivered'`, quick)
}

// One that takes little holds up no other operation: while what waits goes out,
// nobody works on its own.
func TestAFullWindowKeepsNobody(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, nil)
	e := b.endpoint(t, r.URL)
	b.exec(t, `UPDATE endpoints SET rate_per_second = 10 WHERE id = $1`, e)
	b.failed(t, e, 1500)
	b.delivering(t)
	id := b.start(t, b.recovery(e))
	began := time.Now()
	if err := b.Run(t.Context(), b.account, id); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 12*time.Second {
		t.Errorf("worked on for %s", took)
	}
	b.wantCount(t, 1, `SELECT count(*) FROM operations WHERE leased_until IS NULL AND next_run_at IS NOT NULL`)
	if o := b.operation(t, id); o.State != gateway.OperationRunning || o.Done > 1200 {
		t.Errorf("%+v", o)
	}
}

// Events are decided again, behind what is live, a bounded number at a time.
func TestReprocess(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.events(t, 2300, eventType, gateway.EventNoEndpoints)
	b.events(t, 4, "invoice.paid", gateway.EventNoEndpoints)
	b.events(t, 4, eventType, gateway.EventRuleError)
	e := b.endpoint(t, "http://127.0.0.1:1/", "order.*")
	b.exec(t, `UPDATE events SET decisions = 1`)
	r := operate.Request{Kind: gateway.OperationReprocess, Filter: gateway.OperationFilter{EventStatus: gateway.EventNoEndpoints, Type: eventType}}
	b.wantCounted(t, 2300, r)
	id := b.start(t, r)
	if err := b.Run(t.Context(), b.account, id); err != nil { // up to the window: nobody decides
		t.Fatal(err)
	}
	b.wantCount(t, 1000, `SELECT count(*) FROM events WHERE status = 'accepted' AND type = $1`, eventType)
	until(t, "all is decided", func() bool {
		b.decideAll(t)
		if err := b.Run(t.Context(), b.account, id); err != nil {
			t.Error(err)
		}
		return b.operation(t, id).SettledAt != nil
	})
	b.decideAll(t)
	wantNumbers(t, b.operation(t, id), gateway.OperationDone, 2300, 2300, 0)
	b.wantCount(t, 2300, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND priority = 2`, e)
	b.wantCount(t, 4, `SELECT count(*) FROM events WHERE status = 'no_endpoints' AND type <> $1`, gateway.TypeOperationDone)
	b.wantCount(t, 4, `SELECT count(*) FROM events WHERE status = 'rule_error'`)
}

// decideAll does what the workers of process jobs do.
func (b *bundle) decideAll(t *testing.T) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `DELETE FROM river_job WHERE kind = 'process' RETURNING args`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var jobs []job.Process
	for rows.Next() {
		var args []byte
		var p job.Process
		if err := errors.Join(rows.Scan(&args), json.Unmarshal(args, &p)); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, p)
	}
	rows.Close()
	for _, p := range jobs {
		if err := b.decide.Process(t.Context(), p.EventIDs); err != nil {
			t.Fatal(err)
		}
	}
}

// An operation whose job is lost, or whose node is gone, gets another job.
func TestSweep(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	b.failed(t, e, 1)
	id := b.start(t, b.recovery(e))
	b.exec(t, `DELETE FROM river_job`)
	for _, want := range []int{1, 0} { // its alarm is put off for a while
		if n, err := b.Sweep(t.Context()); n != want || err != nil {
			t.Errorf("swept %d, %v, want %d", n, err, want)
		}
	}
	b.wantCount(t, 1, `SELECT count(*) FROM river_job WHERE kind = 'operation'`)
	b.work(t, id)
	b.exec(t, `UPDATE operations SET created_at = created_at`)
	if n, err := b.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("swept %d that have ended, %v", n, err)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	now := b.clock.Now()
	for name, c := range map[string]struct {
		r     operate.Request
		field []string
	}{
		"no kind":         {operate.Request{}, []string{"kind"}},
		"no endpoint":     {operate.Request{Kind: gateway.OperationRecoverFailed}, []string{"endpoint", "since"}},
		"no since":        {operate.Request{Kind: gateway.OperationRecoverMissing, Filter: gateway.OperationFilter{Endpoint: &e}}, []string{"since"}},
		"until before":    {operate.Request{Kind: gateway.OperationRecoverMissing, Filter: gateway.OperationFilter{Endpoint: &e, Since: now, Until: now}}, []string{"until"}},
		"pace":            {operate.Request{Kind: gateway.OperationRecoverFailed, PerSecond: 10_001, Filter: gateway.OperationFilter{Endpoint: &e, Since: now}}, []string{"per_second"}},
		"nothing":         {operate.Request{Kind: gateway.OperationRedeliver}, []string{"status"}},
		"an open status":  {operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{Status: gateway.DeliveryHeld}}, []string{"status"}},
		"no outcome":      {operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{Outcome: "x"}}, []string{"outcome"}},
		"unknown cause":   {operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{ErrorKind: "slow"}}, []string{"error_kind"}},
		"no cause":        {operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{ErrorKind: "\x00", StatusCode: 1000}}, []string{"error_kind", "status_code"}},
		"too many":        {operate.Request{Kind: gateway.OperationRedeliver, Filter: gateway.OperationFilter{Deliveries: make([]gateway.DeliveryID, 1001)}}, []string{"ids"}},
		"no event status": {operate.Request{Kind: gateway.OperationReprocess}, []string{"status"}},
		"another status":  {operate.Request{Kind: gateway.OperationReprocess, Filter: gateway.OperationFilter{EventStatus: gateway.EventIgnored, Type: "\x00"}}, []string{"status", "type"}},
		"nothing wrong":   {operate.Request{Kind: gateway.OperationReprocess, Filter: gateway.OperationFilter{EventStatus: gateway.EventNoEndpoints}}, nil},
	} {
		_, err := b.Start(t.Context(), b.account, actor, c.r)
		if diff := cmp.Diff(c.field, invalidFields(err)); diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	r := b.recovery(gateway.EndpointID(b.clock.NewID()))
	if _, err := b.Start(t.Context(), b.account, actor, r); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an unknown endpoint: %v", err)
	}
	if _, err := b.Cancel(t.Context(), b.account, actor, gateway.OperationID(b.clock.NewID())); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an unknown operation: %v", err)
	}
}

// invalidFields names the fields in which faults were found.
func invalidFields(err error) (fields []string) {
	if one, ok := err.(*gateway.InvalidError); ok { //nolint:errorlint // it walks the tree itself
		return []string{one.Field}
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			fields = append(fields, invalidFields(one)...)
		}
	}
	return fields
}

// A future end is the present: what is to come does not belong to it.
func TestUntilIsNotInTheFuture(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "http://127.0.0.1:1/")
	r := b.recovery(e)
	r.Filter.Until = b.clock.Now().Add(time.Hour)
	b.failed(t, e, 2)
	id := b.start(t, r)
	later := b.failed(t, e, 2)
	b.exec(t, `UPDATE deliveries SET closed_at = now() - interval '1 h' WHERE id = ANY ($1)`, later)
	if o := b.work(t, id); o.Done > 3 { // one may be of the same millisecond
		t.Errorf("%+v", o)
	}
}
