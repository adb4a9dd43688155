package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

// channelContext is where the address of a channel belongs: an account.
func channelContext(account gateway.AccountID) []byte {
	return secret.Context("alert_channels.sealed", account, account)
}

// AlertChannel is where an account is told besides by mail.
type AlertChannel struct {
	// Host is of the address, which itself is a secret.
	Host      string
	Kinds     []gateway.AlertKind
	UpdatedAt time.Time
	// Last is the last message for it; nil for none.
	Last *Mail
}

// AlertChannel reads an account's channel, with the last message for it, whose
// body is left out. One that has none is gateway.ErrNotFound.
func (s *Store) AlertChannel(ctx context.Context, account gateway.AccountID) (c AlertChannel, err error) {
	var id *gateway.MailID
	var at *time.Time
	var m Mail
	err = s.pool.QueryRow(ctx, `
		SELECT c.host, c.kinds, c.updated_at,
		       m.id, coalesce(m.recipient, ''), coalesce(m.subject, ''), m.created_at, coalesce(m.tries, 0), m.due_at, m.sent_at, coalesce(m.failure, '')
		FROM alert_channels c
		LEFT JOIN LATERAL (
			SELECT *
			FROM mails
			WHERE channel_of = c.account_id
			ORDER BY id DESC
			LIMIT 1
		) m ON true
		WHERE c.account_id = $1`, account).
		Scan(&c.Host, &c.Kinds, &c.UpdatedAt, &id, &m.To, &m.Subject, &at, &m.Tries, &m.DueAt, &m.SentAt, &m.Failure)
	if err != nil || id == nil {
		return c, wrap("read the channel", err)
	}
	m.ID, m.CreatedAt, m.Channel = *id, *at, &account
	c.Last = &m
	return c, nil
}

// AlertChannelURL is the address of an account's channel; none is
// gateway.ErrNotFound.
func (s *Store) AlertChannelURL(ctx context.Context, account gateway.AccountID) (string, error) {
	var sealed []byte
	err := s.pool.QueryRow(ctx, `
		SELECT sealed
		FROM alert_channels
		WHERE account_id = $1`, account).Scan(&sealed)
	if err != nil {
		return "", wrap("read the channel's address", err)
	}
	plain, err := s.open(ctx, sealed, channelContext(account))
	if err != nil {
		return "", fmt.Errorf("unseal the address of the channel of %s: %w", account, err)
	}
	return string(plain), nil
}

// SetAlertChannel gives an account a channel, or another address or kinds. An
// empty address leaves the one that is there; where there is none, that is
// gateway.ErrNotFound. It tells whether something changed.
//
// The promise: an account has one channel, which the unique account holds; of
// two who set it at once, the later one's stands as a whole.
func (t Tx) SetAlertChannel(ctx context.Context, account gateway.AccountID, id [16]byte, url, host string, kinds []gateway.AlertKind) (changed bool, err error) {
	if url == "" {
		return t.setAlertKinds(ctx, account, kinds)
	}
	if t.store.sealer == nil {
		return false, errNoSealer
	}
	sealed, err := t.store.sealer.Seal([]byte(url), channelContext(account))
	if err != nil {
		return false, wrap("seal the channel's address", err)
	}
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO alert_channels (id, account_id, sealed, host, kinds)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id) DO UPDATE
		SET sealed = EXCLUDED.sealed, host = EXCLUDED.host, kinds = EXCLUDED.kinds, updated_at = now()`,
		id, account, sealed, host, kinds)
	return tag.RowsAffected() == 1, wrap("set the channel", err)
}

func (t Tx) setAlertKinds(ctx context.Context, account gateway.AccountID, kinds []gateway.AlertKind) (changed bool, err error) {
	var there bool
	err = t.tx.QueryRow(ctx, `
		WITH there AS (
			SELECT id
			FROM alert_channels
			WHERE account_id = $1
			FOR UPDATE
		), changed AS (
			UPDATE alert_channels
			SET kinds = $2, updated_at = now()
			WHERE account_id = $1
			  AND id IN (SELECT id FROM there)
			  AND kinds <> $2
			RETURNING id
		)
		SELECT EXISTS (SELECT FROM there), EXISTS (SELECT FROM changed)`, account, kinds).Scan(&there, &changed)
	if err == nil && !there {
		err = gateway.ErrNotFound
	}
	return changed, wrap("set the channel's kinds", err)
}

// RemoveAlertChannel takes an account's channel away, and what is still to be
// sent to it. None is gateway.ErrNotFound.
func (t Tx) RemoveAlertChannel(ctx context.Context, account gateway.AccountID) error {
	tag, err := t.tx.Exec(ctx, `DELETE FROM alert_channels WHERE account_id = $1`, account)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	if err != nil {
		return wrap("remove the channel", err)
	}
	_, err = t.tx.Exec(ctx, `
		UPDATE mails
		SET due_at = NULL, body = NULL, failure = 'the channel was removed'
		WHERE channel_of = $1
		  AND sent_at IS NULL
		  AND body IS NOT NULL`, account)
	return wrap("drop what was to be sent to the channel", err)
}

// ChannelOf is the host of an account's channel if it is told of a kind; empty
// if not.
func (t Tx) ChannelOf(ctx context.Context, account gateway.AccountID, kind gateway.AlertKind) (host string, err error) {
	err = t.tx.QueryRow(ctx, `
		SELECT host
		FROM alert_channels
		WHERE account_id = $1
		  AND $2 = ANY (kinds)`, account, string(kind)).Scan(&host)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return host, wrap("look for a channel", err)
}
