package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// AlertEvery is how often it is looked for what members are to be told.
	AlertEvery = 5 * time.Second
	// alertBatch bounds how much of it is told in one round.
	alertBatch = 100
	// keepAlerts is how long is kept what could not be told: older news are no
	// help.
	keepAlerts = 24 * time.Hour
)

// news is something that members are told.
type news struct {
	account  gateway.AccountID
	endpoint *gateway.EndpointID // nil: it is about none
	kind     gateway.AlertKind
	write    func(scene) letter
}

// Alert writes the mails about what happened since the last round. Nodes may do
// it at once: each mail is written by one. What fails is tried again in the next
// round, and keeps nothing else back.
func (s *Service) Alert(ctx context.Context) error {
	ids, err := s.store.Alerts(ctx, alertBatch)
	for _, id := range ids {
		err = errors.Join(err, s.tell(ctx, id))
	}
	due, listErr := s.store.DueDigests(ctx, alertBatch)
	err = errors.Join(err, listErr)
	for _, ref := range due {
		err = errors.Join(err, s.tellDigest(ctx, ref))
	}
	keys, listErr := s.store.EndingKeys(ctx, alertBatch)
	err = errors.Join(err, listErr)
	for _, ref := range keys {
		err = errors.Join(err, s.tellKey(ctx, ref))
	}
	return err
}

// tellKey writes the mails about an API key that ends soon.
func (s *Service) tellKey(ctx context.Context, ref store.KeyRef) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		key, err := tx.TakeEndingKey(ctx, ref)
		if errors.Is(err, gateway.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.post(ctx, tx, news{
			account: ref.AccountID, kind: gateway.AlertKeyEnds,
			write: func(sc scene) letter { return keyEnds(sc, key) },
		})
	})
}

// tell writes the mails of one alert.
func (s *Service) tell(ctx context.Context, id gateway.AlertID) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		a, err := tx.TakeAlert(ctx, id)
		if errors.Is(err, gateway.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		n, err := newsOf(a)
		if err != nil {
			s.log.Error("an alert cannot be read", "alert", id, "type", a.Type, "error", err)
			return nil // it is given up: nobody else can read it either
		}
		return s.post(ctx, tx, n)
	})
}

// tellDigest writes the mails about an endpoint's failed deliveries.
func (s *Service) tellDigest(ctx context.Context, ref store.LaneRef) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		d, err := tx.TakeDigest(ctx, ref.AccountID, ref.EndpointID)
		if errors.Is(err, gateway.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.post(ctx, tx, news{
			account: ref.AccountID, endpoint: &ref.EndpointID, kind: gateway.AlertDeliveryFailed,
			write: func(sc scene) letter { return deliveriesFailed(sc, d) },
		})
	})
}

// post writes a mail to each member who wants the news, and a message for the
// account's channel if it does. Those of an endpoint that was deleted meanwhile
// are none.
func (s *Service) post(ctx context.Context, tx store.Tx, n news) error {
	to, err := tx.Recipients(ctx, n.account, n.kind)
	if err != nil {
		return err
	}
	channel, err := tx.ChannelOf(ctx, n.account, n.kind)
	if err != nil || len(to) == 0 && channel == "" {
		return err
	}
	found, err := tx.Scene(ctx, n.account, n.endpoint)
	if err != nil || n.endpoint != nil && found.Endpoint.Deleted {
		return err
	}
	sc := newScene(s.base, found, n)
	l := n.write(sc)
	for _, address := range to {
		if err := s.add(ctx, tx, store.Mail{To: address, Subject: l.subject, Body: l.body}); err != nil {
			return err
		}
	}
	if channel == "" {
		return nil
	}
	sc.channel = true
	l = n.write(sc)
	return s.add(ctx, tx, store.Mail{To: channel, Subject: l.subject, Body: l.body, Channel: &n.account})
}

// add stores a mail in a transaction, and has it sent if mails are.
func (s *Service) add(ctx context.Context, tx store.Tx, m store.Mail) error {
	m.ID = gateway.MailID(s.clock.NewID())
	out := s.server != nil || m.Channel != nil
	if err := tx.AddMail(ctx, m, out); err != nil || !out {
		return err
	}
	return tx.Enqueue(ctx, job.Mail{MailID: m.ID})
}

// newsOf reads an alert.
func newsOf(a store.Alert) (news, error) {
	n := news{account: a.AccountID}
	switch a.Type {
	case gateway.TypeEndpointDisabled:
		var d gateway.EndpointDisabledData
		err := json.Unmarshal(a.Data, &d)
		n.kind, n.endpoint, n.write = gateway.AlertEndpointDisabled, &d.EndpointID, func(sc scene) letter { return endpointDisabled(sc, d) }
		return n, err
	case gateway.TypeEndpointFailing:
		var d gateway.EndpointFailingData
		err := json.Unmarshal(a.Data, &d)
		n.kind, n.endpoint, n.write = gateway.AlertEndpointFailingEarly, &d.EndpointID, func(sc scene) letter { return endpointFailing(sc, d) }
		if d.Percent == gateway.LastWarning {
			n.kind = gateway.AlertEndpointFailing
		}
		return n, err
	case gateway.TypeDeliveryExpired:
		var d gateway.DeliveryExpiredData
		err := json.Unmarshal(a.Data, &d)
		n.kind, n.write = gateway.AlertDeliveryExpired, func(sc scene) letter { return deliveriesExpired(sc, d) }
		return n, err
	case gateway.TypeClaimDoubtful:
		var d gateway.ClaimDoubtfulData
		err := json.Unmarshal(a.Data, &d)
		n.kind, n.endpoint, n.write = gateway.AlertClaimDoubtful, &d.EndpointID, func(sc scene) letter { return claimDoubtful(sc, d) }
		return n, err
	case gateway.TypeOperationDone:
		var d gateway.OperationDoneData
		err := json.Unmarshal(a.Data, &d)
		n.kind, n.write = gateway.AlertOperationDone, func(sc scene) letter { return operationDone(sc, d) }
		return n, err
	}
	return n, fmt.Errorf("no mail tells of %s", a.Type)
}
