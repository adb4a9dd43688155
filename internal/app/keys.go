package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/rotate"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// RotateKeys seals every stored secret anew, under the present master key, while
// servers run, and prints what it did. Where the master key lies in the data
// directory, it makes a new one. It can be run again after any error.
func RotateKeys(ctx context.Context, c config.Config, log *slog.Logger, w io.Writer) error {
	return withStore(ctx, c, log, func(s *store.Store) error { return rotateKeys(ctx, c, s, w) })
}

func rotateKeys(ctx context.Context, c config.Config, s *store.Store, w io.Writer) error {
	o := rotate.Options{Store: s, Masters: presentKeys(c)}
	if keepsMasterKey(c) {
		o.Renew = func() error {
			_, err := secret.ReplaceMasterKey(c.DataDir)
			return err
		}
		o.Settle = func() error {
			_, err := secret.DropPreviousMasterKey(c.DataDir)
			return err
		}
	}
	report, err := rotate.Run(ctx, o)
	if report.Key != 0 {
		if _, printErr := report.WriteTo(w); printErr != nil {
			err = errors.Join(err, fmt.Errorf("print report: %w", printErr))
		}
	}
	return rotationError(err)
}

// keepsMasterKey tells that the master key lies in the data directory.
func keepsMasterKey(c config.Config) bool { return c.Embedded() && c.MasterKey == "" }

// rotationError says what to do about an error of a rotation.
func rotationError(err error) error {
	var blind *rotate.NodesError
	var late *rotate.LateError
	switch {
	case errors.As(err, &blind):
		return &advised{err, "Nothing was changed. Restart each node with ROWLOCK_MASTER_KEY=<new> and ROWLOCK_MASTER_KEY_PREVIOUS=<old>, then run this again with the same settings."}
	case errors.As(err, &late):
		return &advised{err, "Everything stored can be read. Run this again when they have taken the new key over, or are gone."}
	case errors.Is(err, rotate.ErrRunning):
		return &advised{err, "Wait until it ends, or stop that process: run this again then, and it goes on where that one stopped."}
	default:
		return err
	}
}
