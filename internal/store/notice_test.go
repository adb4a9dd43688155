package store_test

import (
	"context"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// listening runs FollowNotices until the test ends, and returns where it tells
// of changes.
func (b bundle) listening(t *testing.T) <-chan struct{} {
	t.Helper()
	told := make(chan struct{}, 1)
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		b.FollowNotices(ctx, store.Notices{Sources: func() {
			select {
			case told <- struct{}{}:
			default:
			}
		}, Relays: func(gateway.EndpointID) {}})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return told
}

func TestFollowSources(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t)
	told := b.listening(t)
	<-told // it listens now, and may have missed something before
	first, second := b.secret("first"), b.secret("second")
	declared := gateway.EventType{Name: "a", OnDoubt: gateway.OnDoubtResend}
	for _, change := range []func(store.Tx) error{
		func(tx store.Tx) error {
			_, err := tx.SetSourceState(t.Context(), b.account, source.ID, gateway.SourcePaused)
			return err
		},
		func(tx store.Tx) error {
			_, err := tx.UpdateSource(t.Context(), b.account, source)
			return err
		},
		func(tx store.Tx) error { return b.addSourceSecret(t.Context(), tx, source.ID, first) },
		func(tx store.Tx) error { return b.addSourceSecret(t.Context(), tx, source.ID, second) },
		func(tx store.Tx) error {
			return tx.EndSourceSecrets(t.Context(), b.account, source.ID, 0, second.ID)
		},
		func(tx store.Tx) error { return tx.DeleteSource(t.Context(), b.account, source.ID) },
		func(tx store.Tx) error {
			_, err := tx.CreateEventType(t.Context(), b.account, declared, 9)
			return err
		},
		func(tx store.Tx) error {
			_, err := tx.UpdateEventType(t.Context(), b.account, declared)
			return err
		},
		func(tx store.Tx) error { return tx.DeleteEventType(t.Context(), b.account, declared.Name) },
	} {
		b.in(t, change)
		<-told
	}
}

// When the connection is lost, something may be missed: that is told, and it
// listens again.
func TestFollowSourcesAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t)
	told := b.listening(t)
	<-told
	const listeners = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`
	b.exec(t, 1, `SELECT pg_terminate_backend(pid) `+listeners)
	<-told
	for b.count(t, `SELECT count(*) `+listeners) != 1 { // until it listens again
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.SetSourceState(t.Context(), b.account, source.ID, gateway.SourcePaused)
		return err
	})
	<-told
}
