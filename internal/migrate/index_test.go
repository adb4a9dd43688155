package migrate_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// newIndex is what a migration says of one, and newName its name.
const (
	newName  = "attempts_new_idx"
	newIndex = `CREATE INDEX attempts_new_idx ON ONLY attempts (account_id, n DESC) WHERE outcome <> 'succeeded'`
)

// days is how many the tests' database has.
const days = 4

func unbuilt(t *testing.T, url string) []migrate.Index {
	t.Helper()
	found, err := migrate.Unbuilt(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func build(t *testing.T, url string) {
	t.Helper()
	done, err := migrate.Build(t.Context(), url, slog.New(slog.DiscardHandler))
	if err != nil || !done {
		t.Fatalf("done %t, error %v", done, err)
	}
}

// wantIndex checks that an index is valid, of the whole and of every partition, and
// is once on each.
func wantIndex(t *testing.T, url, name string, partitions int) {
	t.Helper()
	if left := unbuilt(t, url); len(left) > 0 {
		t.Errorf("left to be built: %+v", left)
	}
	if n := count(t, url, `SELECT count(*) FROM pg_index WHERE NOT indisvalid`); n != 0 {
		t.Errorf("%d indexes are not valid", n)
	}
	const attached = `SELECT count(*) FROM pg_inherits WHERE inhparent = '%s'::regclass`
	if n := count(t, url, fmt.Sprintf(attached, name)); n != partitions {
		t.Errorf("%d partitions have it, want %d", n, partitions)
	}
	const loose = `SELECT count(*) FROM pg_class WHERE relkind = 'i' AND NOT relispartition AND relname LIKE '%s%%'`
	if n := count(t, url, fmt.Sprintf(loose, name)); n != 0 {
		t.Errorf("%d are attached to nothing", n)
	}
}

func exec(t *testing.T, url, sql string) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func TestIndexesAreBuiltAndAttached(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	exec(t, url, newIndex)
	exec(t, url, `CREATE UNIQUE INDEX event_keys_new_idx ON ONLY event_keys (account_id, source_id, key_hash)`)
	want := []migrate.Index{{Name: newName, Table: "attempts", Partitions: days}, {Name: "event_keys_new_idx", Table: "event_keys", Partitions: 8}}
	if diff := cmp.Diff(want, unbuilt(t, url)); diff != "" {
		t.Error(diff)
	}
	for range 2 { // the second time there is nothing to do
		build(t, url)
		wantIndex(t, url, newName, days)
		wantIndex(t, url, "event_keys_new_idx", 8)
	}
	if n := count(t, url, `
		SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'attempts_new_idx_2%'
		AND indexdef LIKE 'CREATE INDEX % USING btree (account_id, n DESC) WHERE (outcome <> ''succeeded''::text)'`); n != days {
		t.Errorf("%d partitions have it as it was asked for, want %d", n, days)
	}
}

// Two nodes are at it: one of them builds, and the other is told so.
func TestIndexesAreBuiltByManyAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	exec(t, url, newIndex)
	together(t, 6, func(ctx context.Context) error {
		_, err := migrate.Build(ctx, url, slog.New(slog.DiscardHandler))
		return err
	})
	wantIndex(t, url, newName, days)
}

// A day that is made while the index is on its way has it from the start, also
// when the days that lack it go before they get it.
func TestDaysThatAreMadeMeanwhileHaveTheIndex(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]string{"made": ``, "and the older ones go": `
		DO $$
		DECLARE day text;
		BEGIN
			FOR day IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'attempts'::regclass ORDER BY inhrelid::regclass::text LIMIT 4 LOOP
				EXECUTE 'DROP TABLE ' || day;
			END LOOP;
		END
		$$`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			exec(t, url, newIndex)
			const makeDay = `SELECT make_partitions(current_date + 10, current_date + 10)`
			exec(t, url, makeDay)
			if got := unbuilt(t, url); len(got) != 1 || got[0] != (migrate.Index{Name: newName, Table: "attempts", Built: 1, Partitions: days + 1}) {
				t.Errorf("after a day was made: %+v", got)
			}
			exec(t, url, meanwhile)
			build(t, url)
			if left := unbuilt(t, url); len(left) > 0 {
				t.Errorf("left to be built: %+v", left)
			}
			const lack = `
				SELECT count(*) FROM pg_inherits p WHERE inhparent = 'attempts'::regclass AND NOT EXISTS (
					SELECT FROM pg_inherits a JOIN pg_index i ON i.indexrelid = a.inhrelid
					WHERE a.inhparent = 'attempts_new_idx'::regclass AND i.indrelid = p.inhrelid AND i.indisvalid)`
			if n := count(t, url, lack); n != 0 {
				t.Errorf("%d days lack it", n)
			}
			if meanwhile == "" {
				wantIndex(t, url, newName, days+1)
			}
		})
	}
}

// What a process that was killed left behind is taken up by the next: an index that
// is not valid is made anew, and one that is only has to be attached.
func TestBuildingGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	exec(t, url, newIndex)
	partitions := attempts(t, url)
	exec(t, url, fmt.Sprintf(`CREATE INDEX attempts_new_idx%s ON %s (account_id, n DESC) WHERE outcome <> 'succeeded'`, partitions[0][len("attempts"):], partitions[0]))
	// A transaction that has written holds the build up.
	holder, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(t.Context(), `LOCK TABLE `+partitions[2]+` IN ROW EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := migrate.Build(ctx, url, slog.New(slog.DiscardHandler))
		ended <- err
	}()
	const left = `SELECT count(*) FROM pg_index i JOIN pg_class x ON x.oid = indexrelid WHERE NOT indisvalid AND relkind = 'i'`
	pgtest.Until(t, "the build waits", func() bool { return count(t, url, left) == 1 })
	if done, err := migrate.Build(t.Context(), url, slog.New(slog.DiscardHandler)); done || err != nil {
		t.Errorf("beside another one: done %t, error %v", done, err)
	}
	kill()
	if err := <-ended; err == nil {
		t.Error("it was killed, and says nothing")
	}
	pgtest.Until(t, "the killed one's session is over", func() bool {
		return count(t, url, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'rowlock indexes'`) == 0
	})
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, url, left); n != 1 {
		t.Fatalf("%d indexes were left that are not valid, want 1", n)
	}
	build(t, url)
	wantIndex(t, url, newName, days)
}

// A partition that cannot get its index keeps no other from it.
func TestOneThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	exec(t, url, newIndex)
	newest := slices.Max(attempts(t, url))
	exec(t, url, fmt.Sprintf(`CREATE TABLE attempts_new_idx%s (in_the_way int)`, newest[len("attempts"):]))
	if done, err := migrate.Build(t.Context(), url, slog.New(slog.DiscardHandler)); done || err == nil {
		t.Errorf("done %t, error %v, want one", done, err)
	}
	if got := unbuilt(t, url); len(got) != 1 || got[0].Built != days-1 {
		t.Errorf("%+v, want all built but one", got)
	}
	exec(t, url, fmt.Sprintf(`DROP TABLE attempts_new_idx%s`, newest[len("attempts"):]))
	build(t, url)
	wantIndex(t, url, newName, days)
}

// attempts lists the days of the table.
func attempts(t *testing.T, url string) []string {
	t.Helper()
	rows, err := connect(t, url).Query(t.Context(), `SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'attempts'::regclass ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) != days {
		t.Fatalf("%q, %v, want %d", names, err, days)
	}
	return names
}
