package explore

import (
	"context"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/search"
	"github.com/rowlock/rowlock/internal/store"
)

// sentChecks ask of events to which no stream of deliveries led what became of
// them.
func (s *Service) sentChecks(account gateway.AccountID, q Query) (checks []check) {
	if q.Endpoint != nil {
		checks = append(checks, s.endpointCheck(account, *q.Endpoint))
	}
	if q.statusMatters() {
		checks = append(checks, s.statusCheck(account, q))
	}
	return checks
}

// endpointCheck leaves those that have a delivery to an endpoint, whose id is
// known without looking.
func (s *Service) endpointCheck(account gateway.AccountID, endpoint gateway.EndpointID) check {
	return func(ctx context.Context, events []gateway.Event) ([]gateway.Event, error) {
		ids := make([]gateway.DeliveryID, len(events))
		for i, e := range events {
			ids[i] = gateway.DeriveDeliveryID(e.ID, endpoint)
		}
		known, err := s.Store.KnownDeliveries(ctx, account, ids)
		return keep(events, func(e gateway.Event) bool { return known[gateway.DeriveDeliveryID(e.ID, endpoint)] }), err
	}
}

// statusCheck leaves those that have one of the statuses, or got as far as is
// asked for.
func (s *Service) statusCheck(account gateway.AccountID, q Query) check {
	return func(ctx context.Context, events []gateway.Event) ([]gateway.Event, error) {
		var progress map[gateway.EventID]store.Progress
		if len(q.Progress) > 0 {
			var err error
			if progress, err = s.Store.ProgressAt(ctx, account, idsOf(events), q.Endpoint); err != nil {
				return nil, err
			}
		}
		return keep(events, func(e gateway.Event) bool {
			return slices.Contains(q.Statuses, e.Status) || slices.Contains(q.Progress, progress[e.ID].Overall())
		}), nil
	}
}

// searchCheck leaves those that came in with what is searched for.
func (s *Service) searchCheck(account gateway.AccountID, q search.Query) check {
	return func(ctx context.Context, events []gateway.Event) ([]gateway.Event, error) {
		found := map[gateway.EventID]bool{}
		err := s.Store.EachArrived(ctx, account, idsOf(events), func(id gateway.EventID, headers, body []byte) {
			found[id] = q.Matches(headers, body)
		})
		return keep(events, func(e gateway.Event) bool { return found[e.ID] }), err
	}
}

func keep(events []gateway.Event, wanted func(gateway.Event) bool) []gateway.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e gateway.Event) bool { return !wanted(e) })
}

func idsOf(events []gateway.Event) []gateway.EventID {
	ids := make([]gateway.EventID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}
