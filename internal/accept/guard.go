package accept

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	statusReplayed = http.StatusConflict
	replayDetail   = "The same body, or the same token, was taken in before under another id."
	// onceDetail is of a request that was refused, and may have been seen.
	onceDetail = "A token is signed, and not the event: whoever has seen the token can have sent another event with it."
)

// redoError tells that repeats were told of events that are not to be. What
// shares those is done again, one by one.
type redoError struct{ shared map[gateway.EventID]bool }

// Error says what happened.
func (e *redoError) Error() string { return "a repeat refers to a replayed request" }

// part takes the requests that share such events out of their batch, in the
// order in which they came.
func (e *redoError) part(batch []*waiting) (alone, rest []*waiting) {
	for _, w := range batch {
		if slices.ContainsFunc(w.received(), func(event Received) bool { return e.shared[event.ID] }) {
			alone = append(alone, w)
		} else {
			rest = append(rest, w)
		}
	}
	return alone, rest
}

// guardKey keeps the hashes of guards apart from those of events' keys, which
// are plain: what anybody may choose as a key cannot be a guard.
var guardKey = []byte("rowlock replay guard")

// newGuard guards what came for a window; what is a body or a token.
func newGuard(source gateway.Source, kind string, what []byte, window time.Duration) *store.ReplayGuard {
	sum := sha256.Sum256(what)
	mac := hmac.New(sha256.New, guardKey)
	mac.Write([]byte(kind))
	mac.Write(sum[:])
	return &store.ReplayGuard{AccountID: source.AccountID, SourceID: source.ID, Hash: [32]byte(mac.Sum(nil)), Window: window}
}

// guard is what of the request may come once: a token that is the provider's for
// one event, or the body where the source wants that.
func (r reception) guard(verified signature.Verified) *store.ReplayGuard {
	switch chosen := r.source.settings; {
	case verified.Once != "":
		return newGuard(r.source.Source, "once", []byte(verified.Once), onceWindow(r.scheme, chosen.Scheme))
	case chosen.ReplayGuard > 0:
		return newGuard(r.source.Source, "body", r.in.Body, chosen.ReplayGuard)
	default:
		return nil
	}
}

// onceWindow is as long as a signed time can pass: from one tolerance ahead of
// our clock to one behind it.
func onceWindow(scheme signature.Scheme, chosen signature.Settings) time.Duration {
	tolerance := cmp.Or(chosen.Tolerance, scheme.Info().Tolerance, signature.DefaultTolerance)
	return 2 * tolerance
}

// claimReplays stops the requests of which something came before that may come
// once. A repeat of an event is not one of them: it is told so, and no more.
func claimReplays(ctx context.Context, tx store.Tx, batch []*waiting) error {
	var guarded []*waiting
	for _, w := range batch {
		w.replayed = false
		if w.guard != nil && w.won() {
			w.guard.EventID = w.parts[0].event.ID
			guarded = append(guarded, w)
		}
	}
	if len(guarded) == 0 {
		return nil
	}
	slices.SortStableFunc(guarded, func(a, b *waiting) int { return compareGuards(a.guard, b.guard) })
	guards := make([]store.ReplayGuard, len(guarded))
	for i, w := range guarded {
		guards[i] = *w.guard
	}
	isNew, err := tx.ClaimReplays(ctx, guards)
	if err != nil {
		return err
	}
	for i, w := range guarded {
		w.replayed = !isNew[i]
	}
	return release(ctx, tx, batch)
}

// remember arms the guard of a request that is taken whatever came before.
func remember(ctx context.Context, tx store.Tx, w *waiting) error {
	if w.guard == nil || !w.won() {
		return nil
	}
	w.guard.EventID = w.parts[0].event.ID
	_, err := tx.ClaimReplays(ctx, []store.ReplayGuard{*w.guard})
	return err
}

func compareGuards(a, b *store.ReplayGuard) int {
	if c := bytes.Compare(a.Hash[:], b.Hash[:]); c != 0 {
		return c
	}
	return bytes.Compare(a.SourceID[:], b.SourceID[:])
}

// release gives back the keys of what is not to be an event, and makes sure
// that no repeat was told of one.
func release(ctx context.Context, tx store.Tx, batch []*waiting) error {
	var keys []store.EventKey
	stopped := map[gateway.EventID]bool{}
	for _, w := range batch {
		for i := range w.parts {
			if p := &w.parts[i]; w.replayed && p.first == nil {
				stopped[p.event.ID] = true
				if p.key != nil {
					keys = append(keys, *p.key)
				}
			}
		}
	}
	if len(stopped) == 0 {
		return nil
	}
	if shared := told(batch, stopped); len(shared) > 0 {
		return &redoError{shared}
	}
	return tx.ReleaseKeys(ctx, keys)
}

// told are those of the events of which a request that goes on would be told.
func told(batch []*waiting, events map[gateway.EventID]bool) map[gateway.EventID]bool {
	shared := map[gateway.EventID]bool{}
	for _, w := range batch {
		for _, event := range w.received() {
			if !w.replayed && events[event.ID] {
				shared[event.ID] = true
			}
		}
	}
	return shared
}
