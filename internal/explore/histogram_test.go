package explore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
)

// uuid is an id as the database writes it.
func uuid(id gateway.SourceID) string {
	raw := id.UUID()
	return fmt.Sprintf("%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
}

// counts adds up a histogram.
func counts(h *explore.Histogram) (n int64) {
	for _, b := range h.Bins {
		n += b.Events
	}
	return n
}

// What is counted one by one is what the list has, in the bins of its times.
func TestHistogramCountsWhatTheListHas(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	now := b.clock.Now()
	event := b.all[len(b.all)/2]
	for name, q := range map[string]explore.Query{
		"an hour":  {Since: now.Add(-3 * time.Hour)},
		"subject":  {Subject: *event.Subject, Since: now.Add(-48 * time.Hour)},
		"statuses": {Statuses: []gateway.EventStatus{gateway.EventIgnored, gateway.EventNoEndpoints}, Since: now.Add(-48 * time.Hour)},
		"between":  {Since: event.ID.Time(), Until: event.ID.Time().Add(90 * time.Minute)},
		"type":     {Type: event.Type, Since: now.Add(-2 * time.Hour)},
		"no event": {Subject: "no such"},
	} {
		h, err := b.Histogram(t.Context(), b.account.ID, q)
		if err != nil || h == nil || len(h.Bins) == 0 || len(h.Bins) > 101 {
			t.Errorf("%s: %+v, %v", name, h, err)
			continue
		}
		want := make([]explore.Bin, len(h.Bins))
		for i := range want {
			want[i].At = h.Bins[0].At.Add(time.Duration(i) * h.Step)
		}
		for _, a := range b.all {
			if wants(q, a) {
				want[a.ID.Time().Sub(want[0].At)/h.Step].Events++
			}
		}
		if diff := cmp.Diff(want, h.Bins); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestHistogramOfWhatIsMetered(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	now := b.clock.Now()
	day := now.Add(-24 * time.Hour)
	for name, c := range map[string]struct {
		query explore.Query
		sql   string
	}{
		"all":    {explore.Query{Since: day}, `SELECT sum(events)::int FROM usage WHERE account_id = $1 AND hour >= $2`},
		"source": {explore.Query{Since: day, Source: &b.account.Sources[0]}, `SELECT sum(events)::int FROM usage WHERE account_id = $1 AND hour >= $2 AND source_id = '` + uuid(b.account.Sources[0]) + `'`},
		"type":   {explore.Query{Since: day, Type: "order.paid"}, `SELECT sum(events)::int FROM type_counts WHERE account_id = $1 AND hour >= $2 AND type = 'order.paid'`},
	} {
		h, err := b.Histogram(t.Context(), b.account.ID, c.query)
		if err != nil || h == nil || h.Attempts || h.Step != time.Hour || len(h.Bins) != 25 {
			t.Errorf("%s: %+v, %v", name, h, err)
			continue
		}
		var want int64
		if err := b.pool.QueryRow(t.Context(), c.sql, b.account.ID, day.Truncate(time.Hour)).Scan(&want); err != nil || counts(h) != want {
			t.Errorf("%s: %d events, %v, want %d", name, counts(h), err, want)
		}
	}
	h, err := b.Histogram(t.Context(), b.account.ID, explore.Query{Since: day, Endpoint: &b.account.Endpoints[0]})
	if err != nil || h == nil || !h.Attempts || h.Step != 15*time.Minute || counts(h) == 0 || h.Bins[5].Retried == 0 {
		t.Errorf("endpoint: %+v, %v", h, err)
	}
	h, err = b.Histogram(t.Context(), b.account.ID, explore.Query{})
	if err != nil || h == nil || h.Step != 12*time.Hour || len(h.Bins) > 62 {
		t.Errorf("all time: %+v, %v", h, err)
	}
}

func TestHistogramOfWhatNobodyCounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	now := b.clock.Now()
	for name, q := range map[string]explore.Query{
		"search":            {Search: searching(t, "$.a")},
		"failed":            {Progress: []gateway.Progress{gateway.ProgressFailed}},
		"type and source":   {Type: "order.paid", Source: &b.account.Sources[0]},
		"endpoint and type": {Type: "order.paid", Endpoint: &b.account.Endpoints[0]},
		"of a past":         {Since: now.AddDate(0, 0, -40), Until: now.AddDate(0, 0, -39)},
		"to come":           {Since: now.Add(time.Hour), Endpoint: &b.account.Endpoints[0]},
		"to come, of all":   {Since: now.Add(time.Hour)},
		"key":               {Key: b.all[0].Key},
		"no time":           {Since: now, Until: now},
	} {
		if h, err := b.Histogram(t.Context(), b.account.ID, q); h != nil || err != nil {
			t.Errorf("%s: %+v, %v; want none", name, h, err)
		}
	}
}
