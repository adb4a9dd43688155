package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestPatience(t *testing.T) {
	t.Parallel()
	locked := fmt.Errorf("apply: %w", &pgconn.PgError{Code: "55P03"})
	other := errors.New("other")
	failing := func(times int, with error) (func() error, *int) {
		calls := 0
		return func() error {
			if calls++; calls <= times {
				return with
			}
			return nil
		}, &calls
	}
	for name, test := range map[string]struct {
		limit time.Duration
		times int
		with  error
		want  error
		calls int
	}{
		"at once":            {time.Minute, 0, nil, nil, 1},
		"after some time":    {time.Minute, 3, locked, nil, 4},
		"deadlock":           {time.Minute, 1, &pgconn.PgError{Code: "40P01"}, nil, 2},
		"another error":      {time.Minute, 1, other, other, 1},
		"for too long":       {0, 9, locked, locked, 1},
		"an SQL error of it": {time.Minute, 1, &pgconn.PgError{Code: "42601"}, errors.ErrUnsupported, 1},
	} {
		do, calls := failing(test.times, test.with)
		err := patience{pause: time.Millisecond, limit: test.limit}.run(t.Context(), do)
		if (err == nil) != (test.want == nil) || *calls != test.calls {
			t.Errorf("%s: %v after %d calls", name, err, *calls)
		}
		if errors.Is(test.want, locked) && !strings.Contains(err.Error(), "end it") {
			t.Errorf("%s: %v does not say what to do", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	do, _ := failing(2, locked)
	if err := (patience{pause: time.Hour, limit: time.Hour}).run(ctx, do); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want it to end with its context", err)
	}
}
