package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/client"
)

// withEndpoints makes endpoints that take one type of events, and deletes them
// when do is done.
func (r *run) withEndpoints(ctx context.Context, kind string, addresses []string, do func() error) (err error) {
	var made []string
	defer func() {
		for _, id := range made {
			gone := r.client.Do(context.WithoutCancel(ctx), http.MethodDelete, "/endpoints/"+id, nil, nil)
			err = errors.Join(err, wrap("delete an endpoint", gone))
		}
	}()
	for _, address := range addresses {
		id, err := r.makeEndpoint(ctx, kind, address)
		if err != nil {
			return err
		}
		made = append(made, id)
	}
	return do()
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (r *run) makeEndpoint(ctx context.Context, kind, address string) (string, error) {
	want := map[string]any{
		"url": address, "event_types": []string{kind}, "max_in_flight": inFlight, "description": "A measurement's, and gone after it.",
	}
	var made struct{ ID string }
	err := r.client.Do(ctx, http.MethodPost, "/endpoints", want, &made)
	if problem, ok := errors.AsType[*client.Problem](err); ok && problem.Status == http.StatusUnprocessableEntity {
		return "", fmt.Errorf("make an endpoint at %s (the server delivers to this machine when it is started with ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8): %w", address, err)
	}
	return made.ID, wrap("make an endpoint", err)
}

// inFlight is how many deliveries an endpoint takes at once.
const inFlight = 64

// quiet waits until everything that was published is decided, so that one
// measurement does not pay for the one before.
func (r *run) quiet(ctx context.Context) error {
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	for {
		var open struct{ Data []struct{} }
		if err := r.client.Do(ctx, http.MethodGet, "/events?status=accepted&limit=1", nil, &open); err != nil {
			return fmt.Errorf("see whether all is decided: %w", err)
		}
		if len(open.Data) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

const looksEvery = 200 * time.Millisecond
