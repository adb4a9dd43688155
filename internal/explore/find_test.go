package explore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
)

// wants tells, in the plainest way, whether a query means an event.
func wants(q explore.Query, a arrived) bool {
	progress, sent := a.progress, true
	if q.Endpoint != nil {
		progress, sent = a.endpoints[*q.Endpoint], a.endpoints[*q.Endpoint] != ""
	}
	status := len(q.Statuses)+len(q.Progress) == 0 || slices.Contains(q.Statuses, a.Status) || progress != "" && slices.Contains(q.Progress, progress)
	text := q.Search.Text()
	named := text != "" && (string(a.Key) == text || *a.Subject == text || a.Type == text || a.ID.String() == text)
	return status &&
		(q.Type == "" || a.Type == q.Type) && (q.Subject == "" || *a.Subject == q.Subject) && (q.Key == nil || string(a.Key) == string(q.Key)) &&
		(q.Source == nil || a.SourceID == *q.Source) && sent &&
		(q.Since.IsZero() || !a.ID.Time().Before(q.Since.Truncate(time.Millisecond))) && (q.Until.IsZero() || a.ID.Time().Before(q.Until.Truncate(time.Millisecond))) &&
		(q.Search.IsZero() || named || q.Search.Matches(a.headers, a.body))
}

// queries are of every kind, alone and together.
func (b *bundle) queries(t *testing.T) map[string]explore.Query {
	t.Helper()
	event := b.all[len(b.all)/2]
	source, endpoint := b.account.Sources[1], b.account.Endpoints[0]
	from := event.ID.Time()
	failed := []gateway.Progress{gateway.ProgressFailed}
	ignored := []gateway.EventStatus{gateway.EventIgnored}
	number := searching(t, fmt.Sprintf("$.n < %d", len(b.all)/2))
	return map[string]explore.Query{
		"all": {}, "type": {Type: "order.paid"}, "no type": {Type: "no.such"}, "source": {Source: &source}, "subject": {Subject: *event.Subject}, "key": {Key: event.Key},
		"since": {Since: from}, "until": {Until: from}, "between": {Since: from, Until: from.Add(time.Hour)},
		"statuses": {Statuses: []gateway.EventStatus{gateway.EventIgnored, gateway.EventNoEndpoints, gateway.EventAccepted}},
		"failed":   {Progress: failed}, "retrying": {Progress: []gateway.Progress{gateway.ProgressRetrying}}, "pending": {Progress: []gateway.Progress{gateway.ProgressPending}},
		"delivered": {Progress: []gateway.Progress{gateway.ProgressDelivered}}, "any progress": {Progress: gateway.Progresses},
		"status or progress": {Statuses: ignored, Progress: failed},
		"endpoint":           {Endpoint: &endpoint}, "failed to endpoint": {Endpoint: &endpoint, Progress: failed},
		"type and source":                {Type: "order.paid", Source: &source},
		"type, source and statuses":      {Type: "order.paid", Source: &source, Statuses: []gateway.EventStatus{gateway.EventIgnored, gateway.EventProcessed}},
		"no type of a source":            {Type: "no.such", Source: &source},
		"type and status":                {Type: "order.paid", Statuses: []gateway.EventStatus{gateway.EventProcessed}},
		"source and statuses to come":    {Source: &source, Statuses: ignored, Since: time.Now().Add(time.Hour)},
		"source, failed or ignored":      {Source: &source, Statuses: ignored, Progress: failed},
		"endpoint and statuses":          {Endpoint: &endpoint, Statuses: []gateway.EventStatus{gateway.EventProcessed}, Progress: failed},
		"endpoint, type, source":         {Endpoint: &endpoint, Type: "order.paid", Source: &source},
		"type, failed or ignored":        {Type: "order.created", Statuses: ignored, Progress: failed},
		"subject to endpoint":            {Subject: *event.Subject, Endpoint: &endpoint},
		"subject to endpoint, delivered": {Subject: *event.Subject, Endpoint: &endpoint, Progress: []gateway.Progress{gateway.ProgressDelivered}},
		"retrying to endpoint":           {Endpoint: &endpoint, Progress: []gateway.Progress{gateway.ProgressRetrying, gateway.ProgressPending}},
		"subject, delivered":             {Subject: *event.Subject, Progress: []gateway.Progress{gateway.ProgressDelivered}},
		"key and type":                   {Key: event.Key, Type: event.Type},
		"key and another type":           {Key: event.Key, Type: "no.such"},
		"named by key":                   {Search: searching(t, string(event.Key))},
		"named by subject":               {Search: searching(t, *event.Subject)},
		"named by type":                  {Search: searching(t, "invoice.sent")},
		"named by type, failed":          {Search: searching(t, "order.created"), Progress: failed},
		"named by id":                    {Search: searching(t, event.ID.String())},
		"named by id, of another day":    {Search: searching(t, event.ID.String()), Since: from.Add(time.Hour)},
		"named by id, of another kind":   {Search: searching(t, event.ID.String()), Type: "no.such"},
		"a text":                         {Search: searching(t, fmt.Sprintf(`"n":%d,`, len(b.all)/3))}, // is in no key
		"a header":                       {Search: searching(t, `header.user-agent = fill and $.n = 7`)},
		"a header's text":                {Search: searching(t, "application/json"), Since: from.Add(-time.Hour), Until: from},
		"a number":                       {Search: number},
		"a number since":                 {Search: number, Since: from, Type: "order.created"},
		"a number, failed":               {Search: number, Progress: failed},
		"a number to endpoint":           {Search: number, Endpoint: &endpoint, Statuses: []gateway.EventStatus{gateway.EventProcessed}},
		"nothing":                        {Search: searching(t, "$.no.such = 1")},
	}
}

func TestFindFindsAllThatIsMeant(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	if len(b.all) < history.Events/2 {
		t.Fatalf("only %d events", len(b.all))
	}
	for name, q := range b.queries(t) {
		want := b.meant(func(a arrived) bool { return wants(q, a) })
		for _, limit := range []int{3, 50, 2000} {
			if len(want) > 300 && limit == 3 {
				continue // many parts tell no more
			}
			got, stopped := b.found(t.Context(), t, q, limit)
			if diff := cmp.Diff(want, got); diff != "" || stopped > 0 {
				t.Errorf("%s, %d at once: %d parts had no time (-want +got):\n%s", name, limit, stopped, diff)
			}
		}
	}
}

// Whoever has no time at all gets on, and misses nothing.
func TestFindGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Nanosecond)
	for name, q := range b.queries(t) {
		want := b.meant(func(a arrived) bool { return wants(q, a) })
		got, stopped := b.found(t.Context(), t, q, 50)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if name == "nothing" && stopped == 0 {
			t.Error("it was never out of time")
		}
	}
}

func TestFindTellsHowFarItLooked(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Nanosecond)
	part, err := b.Find(t.Context(), b.account.ID, explore.Query{Search: searching(t, "$.no.such")}, nil, 50)
	if err != nil || !part.Stopped || part.Looked != 100 || part.Next == nil || *part.Next != b.all[99].ID || len(part.Events) != 0 {
		t.Errorf("%+v, %v; want it to stop behind the first hundred", part, err)
	}
	part, err = b.Find(t.Context(), b.account.ID, explore.Query{}, nil, 50)
	if err != nil || part.Stopped || part.Looked != 0 || part.Next == nil || *part.Next != b.all[49].ID || len(part.Events) != 50 {
		t.Errorf("%+v, %v; want the newest fifty", part, err)
	}
}

// Two things of which there are many, and which never met, are looked for within
// the time, as everything is.
func TestFindEndsWhereNothingMeets(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Nanosecond)
	source := b.account.Sources[1]
	if _, err := b.pool.Exec(t.Context(), `UPDATE events SET type = 'order.paid' WHERE account_id = $1 AND source_id <> $2`, b.account.ID, source); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE events SET type = 'order.created', status = 'ignored' WHERE account_id = $1 AND source_id = $2`, b.account.ID, source); err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]explore.Query{
		"type and source":            {Type: "order.paid", Source: &source},
		"type and the common status": {Type: "order.created", Statuses: []gateway.EventStatus{gateway.EventProcessed}},
	} {
		part, err := b.Find(t.Context(), b.account.ID, q, nil, 50)
		if err != nil || !part.Stopped || len(part.Events) != 0 || part.Looked == 0 || part.Looked > 100 {
			t.Errorf("%s: %+v, %v; want it to stop behind the first hundred", name, part, err)
		}
		if got, _ := b.found(t.Context(), t, q, 50); len(got) != 0 {
			t.Errorf("%s: found %v", name, got)
		}
	}
}

func TestFindIsForItsAccountAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	for name, q := range b.queries(t) {
		if name == "named by type, failed" || q.Type != "" || len(q.Statuses)+len(q.Progress) > 0 || q.Source == nil && q.Endpoint == nil && q.Search.IsZero() && q.Subject == "" && q.Key == nil {
			continue // the other one has such events, too
		}
		part, err := b.Find(t.Context(), b.other.ID, q, nil, 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range part.Events {
			if e.AccountID != b.other.ID {
				t.Errorf("%s: another account finds %s", name, e.ID)
			}
		}
	}
	event := b.all[0]
	for _, q := range []explore.Query{{Search: searching(t, event.ID.String())}, {Search: searching(t, string(event.Key))}, {Endpoint: &b.account.Endpoints[0]}, {Source: &b.account.Sources[0]}} {
		if part, err := b.Find(t.Context(), b.other.ID, q, nil, 50); err != nil || len(part.Events) != 0 {
			t.Errorf("another account finds %v, %v", part.Events, err)
		}
	}
}

func TestLooksTakeTurns(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := explore.Query{Search: searching(t, "$.no.such")}
	if _, err := b.Find(ctx, b.account.ID, q, nil, 50); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want what the caller's context says", err)
	}
}
