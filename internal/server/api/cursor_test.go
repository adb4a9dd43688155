package api

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/store"
)

func isCursorProblem(err error) bool {
	var p *problem.Problem
	return errors.As(err, &p) && p.Code == problem.InvalidCursor
}

func TestCursorComesBack(t *testing.T) {
	t.Parallel()
	position := []byte("0123456789abcdef")
	cursor := encodeCursor("events", position)
	got, err := decodeCursor("events", cursor, len(position))
	if err != nil || !bytes.Equal(got, position) {
		t.Errorf("%q, %v", got, err)
	}
	for name, attempt := range map[string]func() ([]byte, error){
		"another list":   func() ([]byte, error) { return decodeCursor("deliveries", cursor, len(position)) },
		"another length": func() ([]byte, error) { return decodeCursor("events", cursor, len(position)-1) },
		"padded":         func() ([]byte, error) { return decodeCursor("events", cursor+"=", len(position)) },
		"cut":            func() ([]byte, error) { return decodeCursor("events", cursor[:len(cursor)-2], len(position)) },
		"line break":     func() ([]byte, error) { return decodeCursor("events", cursor[:4]+"\n"+cursor[4:], len(position)) },
		"empty":          func() ([]byte, error) { return decodeCursor("events", "", len(position)) },
	} {
		if got, err := attempt(); !isCursorProblem(err) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestCursorEveryByteCounts(t *testing.T) {
	t.Parallel()
	cursor := encodeCursor("events", make([]byte, 16))
	for i := range cursor {
		for _, other := range "Ab9_" {
			changed := cursor[:i] + string(other) + cursor[i+1:]
			if changed == cursor {
				continue
			}
			if _, err := decodeCursor("events", changed, 16); !isCursorProblem(err) {
				t.Errorf("byte %d as %c: %v", i, other, err)
			}
		}
	}
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add(encodeCursor("events", make([]byte, 16)))
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		position, err := decodeCursor("events", cursor, 16)
		if err != nil {
			if !isCursorProblem(err) {
				t.Fatal(err)
			}
			return
		}
		if again := encodeCursor("events", position); again != cursor {
			t.Fatalf("%q and %q are one cursor", cursor, again)
		}
	})
}

// A cursor can be made up: its check bytes are no secret.
func TestAttemptCursorsThatCannotBe(t *testing.T) {
	t.Parallel()
	sane := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, attempt := range map[string]gateway.Attempt{
		"number 0":        {N: 0, StartedAt: sane},
		"a number beyond": {N: gateway.MaxAttempts + 1, StartedAt: sane},
		"a huge number":   {N: 1<<32 - 1, StartedAt: sane},
		"the far future":  {N: 1, StartedAt: time.UnixMicro(1<<63 - 1)},
		"the far past":    {N: 1, StartedAt: time.UnixMicro(-1 << 63)},
	} {
		if got, err := decodeAttemptCursor(encodeCursor(attemptList, attemptCursor(attempt))); !isCursorProblem(err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestAttemptCursor(t *testing.T) {
	t.Parallel()
	attempt := gateway.Attempt{DeliveryID: gateway.DeliveryID{1, 2, 3}, N: 65535, StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)}
	got, err := decodeAttemptCursor(encodeCursor(attemptList, attemptCursor(attempt)))
	want := &store.AttemptCursor{StartedAt: attempt.StartedAt, Delivery: attempt.DeliveryID, N: attempt.N}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
