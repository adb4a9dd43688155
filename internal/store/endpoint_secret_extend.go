package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// ExtendEndpointSecret lets a secret that is about to end sign for the overlap
// from now on, and returns it without its value. It never ends sooner for it:
// of two at once the longer counts.
//
// The promise: what has ended stays so. The endpoint's lock puts this before
// or behind whoever ends secrets or counts the live ones, and the clock is
// looked at under it: gateway.ErrSecretEnded. The one without an end keeps
// none: gateway.ErrSecretEndless.
func (t Tx) ExtendEndpointSecret(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, id gateway.SecretID, overlap time.Duration) (gateway.Secret, error) {
	extended := gateway.Secret{ID: id}
	if _, err := t.LockEndpoint(ctx, account, endpoint); err != nil {
		return extended, err
	}
	err := t.tx.QueryRow(ctx, `
		UPDATE endpoint_secrets
		SET ends_at = GREATEST(ends_at, clock_timestamp() + @overlap::interval)
		WHERE id = @id
		  AND account_id = @account
		  AND endpoint_id = @endpoint
		  AND ends_at > clock_timestamp()
		RETURNING created_at, ends_at`,
		pgx.NamedArgs{"account": account, "endpoint": endpoint, "id": id, "overlap": overlap}).
		Scan(&extended.CreatedAt, &extended.EndsAt)
	if errors.Is(err, pgx.ErrNoRows) {
		err = t.whyNotExtended(ctx, account, endpoint, id)
	}
	return extended, wrap("extend endpoint secret", err)
}

// whyNotExtended tells a secret that is not there from one that has ended and
// from one that has no end.
func (t Tx) whyNotExtended(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, id gateway.SecretID) error {
	var ends bool
	err := t.tx.QueryRow(ctx, `
		SELECT ends_at IS NOT NULL
		FROM endpoint_secrets
		WHERE id = $1
		  AND endpoint_id = $2
		  AND account_id = $3`, id, endpoint, account).Scan(&ends)
	switch {
	case err != nil:
		return err
	case ends:
		return gateway.ErrSecretEnded
	default:
		return gateway.ErrSecretEndless
	}
}
