package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/store"
)

// What is measured is what PostgreSQL says of the tables one by one.
func TestStorage(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.queued(t, b.newEndpoint(t).ID, 300)
	if _, err := b.pool.Exec(t.Context(), `ANALYZE events, deliveries, attempts, lanes`); err != nil {
		t.Fatal(err)
	}
	got, err := b.Storage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	whole := b.count(t, `SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`)
	sum := 0
	for _, table := range got.Tables {
		sum += int(table.Bytes + table.IndexBytes)
	}
	if sum != whole || got.Bytes < int64(whole) {
		t.Errorf("the tables take up %d of %d bytes, the database %d", sum, whole, got.Bytes)
	}
	table := func(name string) store.TableSize {
		i := slices.IndexFunc(got.Tables, func(s store.TableSize) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("no table %s", name)
		}
		return got.Tables[i]
	}
	if d := table("deliveries"); d.Parts != len(got.Days) || d.Rows == nil || *d.Rows != 300 || d.IndexBytes == 0 {
		t.Errorf("deliveries: %+v", d)
	}
	if k := table("event_keys"); k.Parts != store.KeyPartitions {
		t.Errorf("keys are in %d parts", k.Parts)
	}
	if l := table("lanes"); l.Parts != 1 {
		t.Errorf("lanes: %+v", l)
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	i := slices.IndexFunc(got.Days, func(d store.DaySize) bool { return d.Day.Equal(today) })
	if i < 0 || got.Days[i].Deliveries == nil || *got.Days[i].Deliveries != 300 || got.Days[i].Bytes == 0 || got.Days[i].Empty || !got.Days[len(got.Days)-1].Empty {
		t.Errorf("today: %+v", got.Days)
	}
	if !slices.IsSortedFunc(got.Days, func(a, b store.DaySize) int { return a.Day.Compare(b.Day) }) {
		t.Error("days are not in order")
	}
}
