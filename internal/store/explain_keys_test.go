package store_test

import (
	"context"

	"github.com/rowlock/rowlock/internal/store"
)

// rotation are the calls of a rotation. They find one value that was sealed with
// another key, and leave nothing behind.
func (x *explained) rotation() []call {
	sealed := store.SealedColumns[0]
	put := func(ctx context.Context, sql string, args ...any) error {
		_, err := x.b.pool.Exec(ctx, sql, args...)
		return err
	}
	return []call{
		done("replace keyset", func(ctx context.Context, tx store.Tx) error {
			if err := put(ctx, `INSERT INTO keyset (wrapped, key_id) VALUES ('x', NULL)`); err != nil {
				return err
			}
			state, err := tx.LockKeyset(ctx)
			if err == nil {
				_, err = tx.ReplaceKeyset(ctx, state.Wrapped, []byte("y"), 1, true)
			}
			return err
		}),
		done("follow keyset", func(ctx context.Context, _ store.Tx) error { return x.FollowKeyset(ctx) }),
		only("all is sealed anew", func(ctx context.Context) (bool, error) { return x.Resealed(ctx, 1) }),
		only("keys of nodes", x.KeysOfNodes),
		done("lock rotation", func(ctx context.Context, _ store.Tx) error {
			release, _, err := x.LockRotation(ctx)
			if err == nil {
				release()
			}
			return err
		}),
		done("seal anew", func(ctx context.Context, _ store.Tx) error {
			if err := put(ctx, `INSERT INTO endpoint_secrets (id, account_id, endpoint_id, sealed) VALUES ($1, $2, $3, 'junk')`,
				x.b.clock.NewID(), x.owner.ID, x.endpoint); err != nil {
				return err
			}
			for _, c := range store.SealedColumns {
				if _, err := x.Reseal(ctx, c, [16]byte{}, 100); err != nil {
					return err
				}
			}
			_, err := x.Reseal(ctx, sealed, [16]byte{}, 100)
			return err
		}),
		only("is all sealed anew", x.AllResealed),
		done("forget what was put", func(ctx context.Context, _ store.Tx) error {
			if err := put(ctx, `DELETE FROM endpoint_secrets WHERE sealed = 'junk'`); err != nil {
				return err
			}
			return put(ctx, `DELETE FROM keyset`)
		}),
	}
}
