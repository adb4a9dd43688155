package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// history is an account with one of everything, and the ids of it.
type history struct {
	bundle
	endpoint gateway.EndpointID
	source   gateway.SourceID
	event    gateway.EventID
	delivery gateway.DeliveryID
	request  gateway.RequestID
}

func newHistory(t *testing.T) history {
	t.Helper()
	h := history{bundle: newBundle(t)}
	h.endpoint, h.source = h.newEndpoint(t).ID, h.newSource(t).ID
	h.delivery = h.fail(t, h.endpoint, gateway.Cause{StatusCode: 500}, 1)[0]
	h.event = h.bundle.delivery(t, h.delivery).EventID
	h.failed(t, h.delivery, 1, gateway.Cause{StatusCode: 500}, h.clock.Now())
	h.queued(t, h.endpoint, 1)
	retried := h.fail(t, h.endpoint, gateway.Cause{StatusCode: 500}, 1)
	h.exec(t, 1, `UPDATE deliveries SET status = 'pending' WHERE id = $1`, retried[0])
	h.exec(t, 1, `UPDATE endpoints SET consecutive_failures = 1, filter = 'true'`)
	r := h.bundle.request(h.source, gateway.CauseDuplicate)
	r.EventID, h.request = &h.event, r.ID
	h.insertRequests(t, r)
	s, lane := h.secret("s"), h.acquire(t, h.endpoint, "n")
	h.in(t, func(tx store.Tx) error {
		return errors.Join(h.addSourceSecret(t.Context(), tx, h.source, s), tx.AddTally(t.Context(), lane, "n", someStats()),
			tx.AddUsage(t.Context(), "n", map[store.SourceRef]store.Usage{{AccountID: h.account, SourceID: h.source}: {Events: 1, Bytes: 1}}, map[store.TypeRef]int64{{AccountID: h.account, Type: queuedType}: 1}))
	})
	h.audits(t, h.account, gateway.ActorRowlock, h.event.String(), "a")
	return h
}

// pageReads tell how much each read for pages gives an account that names what
// is in the history.
func (h history) pageReads(account gateway.AccountID) map[string]func(context.Context) (int, error) {
	now := h.clock.Now()
	w := store.LastSteps(now, 4, time.Hour)
	endpoints, sources := []gateway.EndpointID{h.endpoint}, []gateway.SourceID{h.source}
	return map[string]func(context.Context) (int, error){
		"AttemptRows": counted(func(ctx context.Context) ([]store.AttemptRow, error) {
			return h.AttemptRows(ctx, account, store.AttemptFilter{Delivery: &h.delivery}, nil, 9)
		}),
		"EventAttempts": counted(func(ctx context.Context) ([]gateway.Attempt, error) {
			all, _, err := h.EventAttempts(ctx, account, h.event, 9)
			return all, err
		}),
		"DeliveryRows": counted(func(ctx context.Context) ([]store.DeliveryRow, error) {
			return h.DeliveryRows(ctx, account, store.DeliveryFilter{Event: &h.event}, store.Page[gateway.DeliveryID]{Limit: 9})
		}),
		"Failures": counted(func(ctx context.Context) ([]store.FailureGroup, error) {
			all, _, err := h.Failures(ctx, account, store.FailureFilter{Endpoint: &h.endpoint})
			return all, err
		}),
		"Retrying": counted(func(ctx context.Context) ([]store.FailureGroup, error) {
			all, _, err := h.Retrying(ctx, account, store.FailureFilter{Endpoint: &h.endpoint})
			return all, err
		}),
		"LaneOf": found(func(ctx context.Context) error { _, err := h.LaneOf(ctx, account, h.endpoint); return err }),
		"QueueOf": func(ctx context.Context) (int, error) {
			q, err := h.QueueOf(ctx, account, h.endpoint, 9)
			return q.Due, err
		},
		"EventRequests": counted(func(ctx context.Context) ([]gateway.Request, error) { return h.EventRequests(ctx, account, h.event, 9) }),
		"AuditLog": counted(func(ctx context.Context) ([]gateway.AuditEntry, error) {
			return h.AuditLog(ctx, account, store.AuditFilter{}, store.Page[gateway.AuditID]{Limit: 9})
		}),
		"AuditOf": counted(func(ctx context.Context) ([]gateway.AuditEntry, error) {
			return h.AuditOf(ctx, account, []string{h.event.String()}, 9)
		}),
		"TroubledEndpoints": counted(func(ctx context.Context) ([]gateway.Endpoint, error) { return h.TroubledEndpoints(ctx, account, 9) }),
		"FilteredEndpoints": counted(func(ctx context.Context) ([]gateway.Endpoint, error) {
			return h.FilteredEndpoints(ctx, account, []string{queuedType}, 9)
		}),
		"Contents": mapped(func(ctx context.Context) (map[gateway.EventID]gateway.Content, error) {
			return h.Contents(ctx, account, []gateway.EventID{h.event})
		}),
		"Progress": mapped(func(ctx context.Context) (map[gateway.EventID]store.Progress, error) {
			return h.Progress(ctx, account, []gateway.EventID{h.event})
		}),
		"EndpointHealth": mapped(func(ctx context.Context) (map[gateway.EndpointID]store.Health, error) {
			return h.EndpointHealth(ctx, account, endpoints)
		}),
		"EndpointLabels": mapped(func(ctx context.Context) (map[gateway.EndpointID]store.EndpointLabel, error) {
			return h.EndpointLabels(ctx, account, endpoints)
		}),
		"EndpointTotals": mapped(func(ctx context.Context) (map[gateway.EndpointID]store.Stats, error) {
			return h.EndpointTotals(ctx, account, endpoints, w)
		}),
		"SourceLabels": mapped(func(ctx context.Context) (map[gateway.SourceID]store.SourceLabel, error) {
			return h.SourceLabels(ctx, account, sources)
		}),
		"SourceCounts": mapped(func(ctx context.Context) (map[gateway.SourceID]store.SourceCount, error) {
			return h.SourceCounts(ctx, account, sources, 4, now)
		}),
		"Request": found(func(ctx context.Context) error { _, err := h.Request(ctx, account, h.source, h.request); return err }),
		"RequestSource": found(func(ctx context.Context) error {
			_, err := h.RequestSource(ctx, account, h.request)
			return err
		}),
		"CountFailed": func(ctx context.Context) (int, error) { return h.CountFailed(ctx, account, 9) },
		"CountEvents": func(ctx context.Context) (int, error) { return h.CountEvents(ctx, account, now.Add(-time.Hour), 9) },
		"Backlog": func(ctx context.Context) (int, error) {
			b, err := h.Backlog(ctx, account, 9)
			return b.Waiting + b.Held, err
		},
		"Series": func(ctx context.Context) (n int, err error) {
			bins, err := h.Series(ctx, account, &h.endpoint, w)
			for _, bin := range bins {
				n += int(bin.Attempts())
			}
			return n, err
		},
		"Totals": func(ctx context.Context) (int, error) {
			y, err := h.Totals(ctx, account, &h.endpoint, w)
			return int(y.Attempts()), err
		},
		"Received": func(ctx context.Context) (n int, err error) {
			bins, err := h.Received(ctx, account, w)
			for _, bin := range bins {
				n += int(bin.Events)
			}
			return n, err
		},
		"Pulse": func(ctx context.Context) (int, error) {
			p, err := h.Pulse(ctx, account, gateway.EventID{}, now.Add(-time.Hour), nil)
			return p.Events * int(p.Attempts), err
		},
		"Firsts": func(ctx context.Context) (int, error) {
			f, err := h.Firsts(ctx, account)
			if f.Source && f.Endpoint && f.Event && f.Delivered {
				return 1, err
			}
			return 0, err
		},
	}
}

func counted[V any](read func(context.Context) ([]V, error)) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		all, err := read(ctx)
		return len(all), err
	}
}

func mapped[K comparable, V any](read func(context.Context) (map[K]V, error)) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		all, err := read(ctx)
		return len(all), err
	}
}

func found(read func(context.Context) error) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		err := read(ctx)
		if errors.Is(err, gateway.ErrNotFound) {
			return 0, nil
		}
		return 1, err
	}
}

// Whoever names another account's things gets nothing of them, of which their
// own account gets something.
func TestPagesShowOneAccount(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	strangers := h.pageReads(h.newAccount(t, "other"))
	for name, read := range h.pageReads(h.account) {
		if n, err := read(t.Context()); n == 0 || err != nil {
			t.Errorf("%s gives the account itself %d, %v", name, n, err)
		}
		if n, err := strangers[name](t.Context()); n != 0 || err != nil {
			t.Errorf("%s gives another account %d, %v", name, n, err)
		}
	}
}
