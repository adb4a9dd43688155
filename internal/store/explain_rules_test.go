package store_test

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// ruling are about rules of sources and what they make of events.
func (x *explained) ruling() []call {
	account := x.owner.ID
	report := store.Report{
		Report: gateway.Report{State: "sent"}, AccountID: account, SourceID: x.source,
		Subject: "s", EventID: x.event.ID, FactID: gateway.FactID(x.b.clock.NewID()),
	}
	tell := func(ctx context.Context, tx store.Tx) error {
		_, err := tx.TellFacts(ctx, []store.Report{report, report})
		return err
	}
	return []call{
		inTx("rules of sources", func(ctx context.Context, tx store.Tx) (map[gateway.SourceID]gateway.Source, error) {
			if _, err := tx.SetSourceRule(ctx, account, x.source, &gateway.Rule{Key: "body.id"}); err != nil {
				return nil, err
			}
			return tx.SourceRules(ctx, x.owner.Sources)
		}),
		done("set meanings", func(ctx context.Context, tx store.Tx) error {
			return tx.SetMeanings(ctx, []store.Meaning{{ID: x.event.ID, Type: "a", Received: "b"}})
		}),
		done("put off", func(ctx context.Context, tx store.Tx) error {
			return tx.PutOff(ctx, []gateway.EventID{x.event.ID}, []time.Duration{time.Second}, []string{"waits"})
		}),
		done("tell facts", tell),
		done("known subjects", func(ctx context.Context, tx store.Tx) error {
			if err := tell(ctx, tx); err != nil {
				return err
			}
			known, err := tx.KnownSubjects(ctx, []store.SubjectRef{{AccountID: account, Subject: "s"}, {AccountID: account, Subject: "nobody's"}}, []gateway.EventID{x.event.ID})
			if err == nil && (!known[0] || known[1]) {
				err = errors.New("another subject is known")
			}
			return err
		}),
		missing("fact", func(ctx context.Context) error { _, err := x.Fact(ctx, account, report.FactID); return err }),
		missing("fact of a subject", func(ctx context.Context) error {
			_, err := x.FactOf(ctx, account, x.source, "nobody's")
			return err
		}),
		done("facts", func(ctx context.Context, _ store.Tx) error {
			for _, f := range []store.FactFilter{{}, {Subject: "s"}, {Source: &x.source}, {State: "sent"}, {Subject: "s", Source: &x.source, State: "sent"}} {
				if _, err := x.Facts(ctx, account, f, store.Page[gateway.FactID]{Limit: listed}); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}
