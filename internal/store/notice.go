package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// sourcesChannel is where triggers tell that a source, one of its secrets or
	// an event type changed.
	sourcesChannel = "rowlock_sources"
	// noticePause is how long to wait before following notices again after an
	// error.
	noticePause = time.Second
)

// Notices are told what others changed. They are accelerators: who acts on one
// must also find out in time without being told.
type Notices struct {
	// Sources is called when a source or an event type changed.
	Sources func()
	// Relays is called when the relays of an endpoint changed; of any, if it is
	// zero.
	Relays func(gateway.EndpointID)
}

// missed tells of everything that may have changed unseen.
func (n Notices) missed() {
	n.Sources()
	n.Relays(gateway.EndpointID{})
}

// told passes on one notice.
func (n Notices) told(notice *pgconn.Notification) {
	if notice.Channel == sourcesChannel {
		n.Sources()
		return
	}
	n.Relays(endpointFromUUID(notice.Payload))
}

// endpointFromUUID reads an id as the database writes it; what is none is zero.
func endpointFromUUID(text string) (id gateway.EndpointID) {
	var uuid pgtype.UUID
	if uuid.Scan(text) == nil {
		id.SetUUID(uuid.Bytes)
	}
	return id
}

// FollowNotices tells of changes when they come, and of all of them whenever
// something may have been missed, until ctx ends.
func (s *Store) FollowNotices(ctx context.Context, n Notices) {
	for ctx.Err() == nil {
		_ = s.follow(ctx, n)
		n.missed()
		timer := time.NewTimer(noticePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

func (s *Store) follow(ctx context.Context, n Notices) error {
	listener, err := pgx.ConnectConfig(ctx, s.session)
	if err != nil {
		return err
	}
	defer listener.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it has nothing to lose
	for _, channel := range []string{relaysChannel, sourcesChannel} {
		if _, err := listener.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
	}
	n.missed()
	for {
		notice, err := listener.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		n.told(notice)
	}
}
