package retain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// warnAhead is how long before a day goes its accounts are warned.
const warnAhead = 3 * day

// Warn tells accounts, in the audit log and once a day of events, what is still
// open in a day that goes within warnAhead.
func (s *Service) Warn(ctx context.Context) error {
	over := s.Clock.Now().Add(-s.Retention)
	days, err := s.Store.DaysBefore(ctx, over.Add(warnAhead))
	if err != nil {
		return err
	}
	for _, d := range days {
		if ends := d.Add(day); !ends.After(over) {
			continue // it goes now, and what is open is told as expired
		}
		if err := s.warnOf(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) warnOf(ctx context.Context, d time.Time) error {
	end := d.Add(day + s.Retention).Format(time.DateTime)
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		return s.tellOpen(ctx, tx, d, store.NoticeWarning, "retention.warning", "their retention ends at "+end+" UTC")
	})
}

// DropDays drops the days that are wholly older than the retention. What is
// still open in one is closed first, and told.
func (s *Service) DropDays(ctx context.Context) error {
	days, err := s.Store.DaysBefore(ctx, s.Clock.Now().Add(-s.Retention))
	if err != nil {
		return err
	}
	for _, d := range days {
		left, err := s.expire(ctx, d)
		if err != nil {
			return err
		}
		if left {
			continue // somebody is changing what is open: the next round closes it
		}
		if err := s.Store.DropDay(ctx, d); err != nil {
			return err
		}
		s.Log.Info("day dropped: its retention is over", "day", d.Format(time.DateOnly))
	}
	return nil
}

// expire closes a day's deliveries, and tells of these and of the events that
// nobody has decided. It says whether some are left.
func (s *Service) expire(ctx context.Context, d time.Time) (left bool, err error) {
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		var closed map[gateway.AccountID]store.Expired
		closed, left, err = tx.ExpireDay(ctx, d)
		if err != nil {
			return err
		}
		for account, e := range closed {
			if err := s.tellExpired(ctx, tx, account, d, e); err != nil {
				return err
			}
		}
		return s.tellOpen(ctx, tx, d, store.NoticeExpiry, "event.expire", "their retention is over")
	})
	return left, err
}

// tellExpired tells an account of deliveries that were closed: in the audit log,
// and by one of Rowlock's own events, which tells of no other own events.
func (s *Service) tellExpired(ctx context.Context, tx store.Tx, account gateway.AccountID, d time.Time, e store.Expired) error {
	date := d.Format(time.DateOnly)
	detail := fmt.Sprintf("%d open deliveries of %s: their retention is over", e.Deliveries, date)
	if err := s.tell(ctx, tx, account, "delivery.expire", detail); err != nil || e.Deliveries == e.Own {
		return err
	}
	data, err := json.Marshal(gateway.DeliveryExpiredData{Day: date, Deliveries: e.Deliveries - e.Own, ExpiredAt: s.Clock.Now()})
	if err != nil {
		return fmt.Errorf("write own event: %w", err)
	}
	return tx.Emit(ctx, account, gateway.EventID(s.Clock.NewID()), gateway.TypeDeliveryExpired, data)
}

// tellOpen writes into the audit log what is open of a day, for each account
// that was not told yet.
func (s *Service) tellOpen(ctx context.Context, tx store.Tx, d time.Time, kind store.NoticeKind, action, why string) error {
	open, err := tx.NoteOpen(ctx, d, kind)
	if err != nil {
		return err
	}
	for _, notice := range open {
		detail := fmt.Sprintf("%s of %s: %s", describe(notice), d.Format(time.DateOnly), why)
		if err := s.tell(ctx, tx, notice.AccountID, action, detail); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) tell(ctx context.Context, tx store.Tx, account gateway.AccountID, action, detail string) error {
	return tx.Audit(ctx, account, gateway.ActorRowlock, action, account.String(), detail, s.Clock.NewID())
}

// describe writes what is open, such as "2 open deliveries, 3 held and 1
// accepted events".
func describe(n store.Notice) string {
	var events, all []string
	if n.Held > 0 {
		events = append(events, fmt.Sprintf("%d held", n.Held))
	}
	if n.Accepted > 0 {
		events = append(events, fmt.Sprintf("%d accepted", n.Accepted))
	}
	if n.Deliveries > 0 {
		all = append(all, fmt.Sprintf("%d open deliveries", n.Deliveries))
	}
	if len(events) > 0 {
		all = append(all, strings.Join(events, " and ")+" events")
	}
	return strings.Join(all, ", ")
}
