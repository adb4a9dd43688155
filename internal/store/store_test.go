package store_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestInTxCommitsOrLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ended, cancel := context.WithCancel(t.Context())
	for name, test := range map[string]struct {
		ctx  context.Context
		do   func(store.Tx) error
		want error
		rows int
	}{
		"committed":          {t.Context(), func(store.Tx) error { return nil }, nil, 1},
		"an error":           {t.Context(), func(store.Tx) error { return errRollBack }, errRollBack, 0},
		"the context's end":  {ended, func(store.Tx) error { cancel(); return ended.Err() }, context.Canceled, 0},
		"a statement failed": {t.Context(), func(tx store.Tx) error { return tx.Emit(t.Context(), gateway.AccountID{}, gateway.EventID{}, "x", nil) }, gateway.ErrNotFound, 0},
	} {
		err := b.InTx(test.ctx, func(tx store.Tx) error {
			if err := tx.Enqueue(t.Context(), job.Process{}); err != nil {
				return err
			}
			return test.do(tx)
		})
		if !errors.Is(err, test.want) || store.IsUnknownFate(err) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if n := b.count(t, `WITH gone AS (DELETE FROM river_job RETURNING 1) SELECT count(*) FROM gone`); n != test.rows {
			t.Errorf("%s: %d rows, want %d", name, n, test.rows)
		}
	}
	if n := b.pool.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections were not given back", n)
	}
}

// When the commit itself fails, nobody knows what became of it.
func TestUnknownFate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		if err := tx.Enqueue(t.Context(), job.Process{}); err != nil {
			return err
		}
		b.endOthers(t)
		return nil
	})
	if !store.IsUnknownFate(err) || !errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("error %v, want one of unknown fate that says unavailable", err)
	}
	if store.IsUnknownFate(gateway.ErrUnavailable) || store.IsUnknownFate(nil) {
		t.Error("the fate of anything is unknown")
	}
}

// endOthers ends every session of the database but its own.
func (b bundle) endOthers(t *testing.T) {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), `
		SELECT pg_terminate_backend(pid)
		FROM pg_stat_activity
		WHERE datname = current_database()
		  AND pid <> pg_backend_pid()`)
	if err != nil {
		t.Error(err)
	}
}

// A database that is not there, in whatever way, is ErrUnavailable on every
// path: callers are told to come back.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	paths := func(s *store.Store, account gateway.AccountID) map[string]error {
		ctx := t.Context()
		_, eventErr := s.Event(ctx, account, gateway.EventID{})
		_, bodyErr := s.Body(ctx, account, gateway.EventID{})
		_, listErr := s.Events(ctx, account, store.EventFilter{}, store.Page[gateway.EventID]{Limit: 1})
		_, requestErr := s.Requests(ctx, account, gateway.SourceID{}, "", store.Page[gateway.RequestID]{Limit: 1})
		_, _, sourceErr := s.SourceByToken(ctx, "token")
		_, apiErr := s.APISource(ctx, account)
		_, storedErr := s.StoredBytes(ctx, account, time.Time{})
		_, beatErr := s.Beat(ctx, store.Node{Name: "n"})
		return map[string]error{
			"Event": eventErr, "Body": bodyErr, "Events": listErr, "Requests": requestErr, "SourceByToken": sourceErr,
			"APISource": apiErr, "StoredBytes": storedErr, "Beat": beatErr, "Ping": s.Ping(ctx),
			"InTx": s.InTx(ctx, func(store.Tx) error { return nil }),
		}
	}
	nobody := func(t *testing.T, url string) *store.Store {
		pool, err := store.Connect(t.Context(), url, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		s, err := store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, open := range map[string]func(t *testing.T) *store.Store{
		"nobody listens": func(t *testing.T) *store.Store {
			return nobody(t, "postgres://user:hunter2@127.0.0.1:1/rowlock?sslmode=disable")
		},
		"no such host": func(t *testing.T) *store.Store {
			return nobody(t, "postgres://user:hunter2@rowlock.invalid/rowlock?sslmode=disable")
		},
		"no such database": func(t *testing.T) *store.Store {
			return nobody(t, newBundle(t).pool.Config().ConnString()+"&dbname=rowlock_nowhere")
		},
		"a closed pool": func(t *testing.T) *store.Store {
			b := newBundle(t)
			b.pool.Close()
			return b.Store
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for path, err := range paths(open(t), gateway.AccountID{1}) {
				if !errors.Is(err, gateway.ErrUnavailable) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s: %v, want ErrUnavailable without the password", path, err)
				}
			}
		})
	}
}

// What the server says decides: it cannot serve now, or the statement is wrong.
func TestMeaningOfErrors(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for code, unavailable := range map[string]bool{
		"08006": true, "40001": true, "40P01": true, "53100": true, "53200": true, "53300": true, "55P03": true,
		"57014": true, "57P01": true, "57P03": true, "58030": true, "25P03": true,
		"22021": false, "23503": false, "23505": false, "23514": false, "42601": false, "42P01": false, "55006": false, "XX000": false,
	} {
		b.exec(t, 0, `
			CREATE OR REPLACE FUNCTION tell_source_change() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN
				RAISE EXCEPTION 'told to' USING ERRCODE = '`+code+`';
			END $$`)
		err := b.InTx(t.Context(), func(tx store.Tx) error {
			_, err := tx.SetSourceState(t.Context(), b.account, gateway.SourceID{}, gateway.SourcePaused)
			return err
		})
		if err == nil || errors.Is(err, gateway.ErrUnavailable) != unavailable || !strings.Contains(err.Error(), "set source state") {
			t.Errorf("code %s: %v, want unavailable %t", code, err, unavailable)
		}
	}
}

// An ended context is its own error: the database is not to blame. One that
// ran out of time is: somebody waited for an answer.
func TestEndedContexts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.APISource(cancelled, b.account); !errors.Is(err, context.Canceled) || errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("cancelled: %v", err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := b.APISource(late, b.account); !errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("too late: %v, want ErrUnavailable", err)
	}
}

// A frozen process frees what it holds, and statements agree on the time zone.
func TestSessionSettings(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, want := range map[string]string{
		"application_name": "rowlock", "idle_in_transaction_session_timeout": "5s", "lock_timeout": "5s",
		"plan_cache_mode": "force_generic_plan", "TimeZone": "UTC", "enable_seqscan": "off",
	} {
		var got string
		if err := b.pool.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := store.Connect(t.Context(), "postgres://user:hunter2@host:port/", 1); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an address that cannot be parsed: %v", err)
	}
}

func TestClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	now, err := b.Now(t.Context())
	if off := time.Since(now).Abs(); err != nil || off > time.Minute || now.Location() != time.UTC {
		t.Errorf("the database's time is %s, %v", now, err)
	}
	if version, err := store.ServerVersion(t.Context(), b.pool); err != nil || version < 150_000 {
		t.Errorf("version %d, %v", version, err)
	}
	if err := b.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
