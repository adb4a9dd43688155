package decide_test

import (
	"context"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
)

// What filters say of large events takes memory and time: who asks at once
// waits, and holds up no other account.
func TestAskingTakesTurns(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.filtered(t, "body.n == 2")
	id := b.saying(t, "a", `{"n":1}`)
	b.process(t, id)
	event := b.event(t, id)
	other, _ := b.newAccount(t, "other")
	for name, ask := range map[string]func(context.Context) error{
		"try": func(ctx context.Context) error {
			_, err := b.TryFilter(ctx, b.account, decide.Trial{Filter: "body.n == 1"})
			return err
		},
		"unsent": func(ctx context.Context) error {
			_, err := b.Unsent(ctx, event, map[gateway.EndpointID]bool{})
			return err
		},
	} {
		done, err := b.TakeTurn(t.Context(), b.account)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		if ask(ctx) == nil {
			t.Errorf("%s: answered out of turn", name)
		}
		cancel()
		if _, err := b.TryFilter(t.Context(), other, decide.Trial{Filter: "true"}); err != nil {
			t.Errorf("%s: another account: %v", name, err)
		}
		done()
		if err := ask(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
