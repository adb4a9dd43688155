package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// strange is the account of somebody else, with the ids of what is not its.
type strange struct {
	bundle
	endpoint gateway.EndpointID
	source   gateway.SourceID
	// listened has no address and a listener, and relay is with nobody yet.
	listened gateway.EndpointID
	relay    gateway.AttemptID
	secret   gateway.SecretID
	// request was refused; together came in one with others, which is kept whole.
	request  gateway.RequestID
	together gateway.Event
}

func newStrange(t *testing.T) strange {
	t.Helper()
	b := newBundle(t)
	e, source := b.fullEndpoint("mine"), b.newSource(t)
	s := b.secret("s")
	s.Public = "whpk_s"
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEndpoint(t.Context(), b.account, e, 0)
		return errors.Join(err,
			b.addEndpointSecret(t.Context(), tx, e.ID, b.secret("r")),
			b.addEndpointSecret(t.Context(), tx, e.ID, s),
			b.addSourceSecret(t.Context(), tx, source.ID, b.secret("q")))
	})
	b.exec(t, 1, `UPDATE sources SET uid = 'mine'`)
	b.exec(t, 1, `INSERT INTO failure_digests (endpoint_id, account_id, failed, causes, since, due_at) VALUES ($1, $2, 1, '{}', now(), now())`, e.ID, b.account)
	refused := b.request(source.ID, "signature_mismatch")
	b.insertRequests(t, refused)
	together, _ := b.together(t, source.ID, gateway.RequestID(b.clock.NewID()), 2)
	b.in(t, func(tx store.Tx) error { return tx.AwaitCapture(t.Context(), b.account, source.ID, time.Hour) })
	b.exec(t, 1, `UPDATE sources SET updated_at = created_at WHERE id = $1`, source.ID)
	b.declare(t, gateway.EventType{Name: "theirs"})
	listened, relay := b.newRelay(t)
	b.account = b.newAccount(t, "other")
	return strange{bundle: b, endpoint: e.ID, source: source.ID, secret: s.ID, request: refused.ID, together: together[0].Event, listened: listened, relay: relay}
}

// newRelay is an attempt for a listener, which is connected.
func (b bundle) newRelay(t *testing.T) (gateway.EndpointID, gateway.AttemptID) {
	t.Helper()
	e, event := b.listened(), gateway.EventID(b.clock.NewID())
	d := gateway.DeriveDeliveryID(event, e.ID)
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEndpoint(t.Context(), b.account, e, 0)
		lane := store.Lane{AccountID: b.account, EndpointID: e.ID, Fence: 1}
		return errors.Join(err, tx.MakeRelays(t.Context(), lane, []store.NewRelay{{Delivery: d, N: 1, Event: event}}))
	})
	if _, mine, err := b.HearListener(t.Context(), b.account, e.ID, gateway.Listener{ID: "listener-number-0"}); err != nil || !mine {
		t.Fatalf("heard: %t, %v", mine, err)
	}
	return e.ID, gateway.DeriveAttemptID(d, 1)
}

// asking is what the listener would ask, in the name of another account.
func (b strange) asking() store.Asking {
	return store.Asking{AccountID: b.account, EndpointID: b.listened, Listener: "listener-number-0", Poll: 1}
}

// Each method that names an object is called with another account's. It finds
// nothing, and afterwards nothing has changed.
func TestAnotherAccountsObjectsAreNotFound(t *testing.T) {
	t.Parallel()
	b := newStrange(t)
	ctx := t.Context()
	// no turns "nothing was changed" into the error that it stands for.
	no := func(changed bool, err error) error {
		if err == nil && !changed {
			return gateway.ErrNotFound
		}
		return err
	}
	calls := map[string]func(tx store.Tx) error{
		"Endpoint":       func(store.Tx) error { _, err := b.Endpoint(ctx, b.account, b.endpoint); return err },
		"Tx.Endpoint":    func(tx store.Tx) error { _, err := tx.Endpoint(ctx, b.account, b.endpoint); return err },
		"EndpointByUID":  func(store.Tx) error { _, err := b.EndpointByUID(ctx, b.account, "mine"); return err },
		"LockEndpoint":   func(tx store.Tx) error { _, err := tx.LockEndpoint(ctx, b.account, b.endpoint); return err },
		"PauseEndpoint":  func(tx store.Tx) error { return no(tx.PauseEndpoint(ctx, b.account, b.endpoint)) },
		"ResumeEndpoint": func(tx store.Tx) error { _, err := tx.ResumeEndpoint(ctx, b.account, b.endpoint); return err },
		"LaneOf":         func(store.Tx) error { _, err := b.LaneOf(ctx, b.account, b.endpoint); return err },
		"Dismiss": func(tx store.Tx) error {
			all := []store.Dismissal{{EndpointID: b.endpoint, Until: b.clock.Now()}}
			n, err := tx.Dismiss(ctx, b.account, gateway.ActorRowlock, "", all)
			return no(n > 0, err)
		},
		"Restore": func(tx store.Tx) error {
			n, err := tx.Restore(ctx, b.account, &b.endpoint, nil)
			return no(n > 0, err)
		},
		"MakeDue": func(tx store.Tx) error {
			n, err := tx.MakeDue(ctx, b.account, b.endpoint, 9)
			return no(n > 0, err)
		},
		"DeleteEndpoint": func(tx store.Tx) error { return tx.DeleteEndpoint(ctx, b.account, b.endpoint) },
		"Bridge": func(tx store.Tx) error {
			bridged, err := tx.Bridge(ctx, b.account, b.endpoint)
			return no(len(bridged) > 0, err)
		},
		"CheckFailover": func(tx store.Tx) error {
			err := tx.CheckFailover(ctx, b.account, gateway.EndpointID(b.clock.NewID()), b.endpoint)
			return no(err == nil, nil)
		},
		"HandsOn": func(store.Tx) error { return no(b.HandsOn(ctx, b.account, b.endpoint)) },
		"EndEndpointSecret": func(tx store.Tx) error {
			_, err := tx.EndEndpointSecret(ctx, b.account, b.endpoint, b.secret)
			return err
		},
		"AddEndpointSecret": func(tx store.Tx) error {
			return b.addEndpointSecret(ctx, tx, b.endpoint, b.bundle.secret("x"))
		},
		"UpdateEndpoint": func(tx store.Tx) error {
			e := b.bundle.endpoint()
			e.ID = b.endpoint
			_, err := tx.UpdateEndpoint(ctx, b.account, e)
			return err
		},
		"ExtendEndpointSecret": func(tx store.Tx) error {
			_, err := tx.ExtendEndpointSecret(ctx, b.account, b.endpoint, b.secret, time.Hour)
			return err
		},
		"SetEndpointAuth": func(tx store.Tx) error {
			_, err := tx.SetEndpointAuth(ctx, b.account, b.endpoint, gateway.Auth{Kind: gateway.AuthBearer, Header: "Bearer x"})
			return err
		},
		"HearListener": func(store.Tx) error {
			_, mine, err := b.HearListener(ctx, b.account, b.listened, gateway.Listener{ID: "listener-number-1"})
			return no(mine, err)
		},
		"SeeListener": func(store.Tx) error { return no(b.SeeListener(ctx, b.account, b.listened, "listener-number-0", 1)) },
		"DropListener": func(store.Tx) error {
			return no(false, b.DropListener(ctx, b.account, b.listened, "listener-number-0"))
		},
		"Listeners": func(store.Tx) error {
			found, err := b.Listeners(ctx, b.account, []gateway.EndpointID{b.listened})
			return no(len(found) > 0, err)
		},
		"HasRelays": func(store.Tx) error { return no(b.HasRelays(ctx, b.asking())) },
		"TakeRelays": func(tx store.Tx) error {
			taken, err := tx.TakeRelays(ctx, b.asking())
			return no(len(taken) > 0, err)
		},
		"ReportRelays": func(tx store.Tx) error {
			known, err := tx.ReportRelays(ctx, b.account, b.listened, "listener-number-0", []gateway.Attempt{attemptOf(t, b.relay, gateway.OutcomeSucceeded)})
			return no(len(known) > 0, err)
		},
		"KeepRelayHeaders": func(tx store.Tx) error {
			return no(false, tx.KeepRelayHeaders(ctx, b.account, []gateway.AttemptID{b.relay}, [][]byte{[]byte("X: theirs")}))
		},
		"EndRelays":      func(tx store.Tx) error { return no(false, tx.EndRelays(ctx, b.account, []gateway.AttemptID{b.relay})) },
		"EndpointTarget": func(store.Tx) error { _, err := b.EndpointTarget(ctx, b.account, b.endpoint); return err },
		"EndpointPublicKeys": func(store.Tx) error {
			keys, err := b.EndpointPublicKeys(ctx, b.account, []gateway.EndpointID{b.endpoint})
			return no(len(keys) > 0, err)
		},
		"EndEndpointSecrets": func(tx store.Tx) error {
			return no(false, tx.EndEndpointSecrets(ctx, b.account, b.endpoint, 0, gateway.SecretID{}))
		},
		"TakeDigest": func(tx store.Tx) error { _, err := tx.TakeDigest(ctx, b.account, b.endpoint); return err },
		"EndpointSecrets": func(store.Tx) error {
			live, err := b.EndpointSecrets(ctx, b.account, b.endpoint)
			return no(len(live) > 0, err)
		},
		"EndpointSecretTimes": func(store.Tx) error {
			live, err := b.EndpointSecretTimes(ctx, b.account, b.endpoint)
			return no(len(live) > 0, err)
		},
		"Source":       func(store.Tx) error { _, err := b.Source(ctx, b.account, b.source); return err },
		"SourceByUID":  func(store.Tx) error { _, err := b.SourceByUID(ctx, b.account, "mine"); return err },
		"LockSource":   func(tx store.Tx) error { _, err := tx.LockSource(ctx, b.account, b.source); return err },
		"DeleteSource": func(tx store.Tx) error { return tx.DeleteSource(ctx, b.account, b.source) },
		"SetSourceRule": func(tx store.Tx) error {
			_, err := tx.SetSourceRule(ctx, b.account, b.source, &gateway.Rule{Key: "body.id"})
			return err
		},
		"SetSourceState": func(tx store.Tx) error { return no(tx.SetSourceState(ctx, b.account, b.source, gateway.SourcePaused)) },
		"UpdateSource": func(tx store.Tx) error {
			_, err := tx.UpdateSource(ctx, b.account, gateway.Source{ID: b.source, Name: "x"})
			return err
		},
		"AddSourceSecret": func(tx store.Tx) error {
			return b.addSourceSecret(ctx, tx, b.source, b.bundle.secret("x"))
		},
		"EndSourceSecrets": func(tx store.Tx) error {
			return no(false, tx.EndSourceSecrets(ctx, b.account, b.source, 0, gateway.SecretID{}))
		},
		"AwaitCapture": func(tx store.Tx) error { return tx.AwaitCapture(ctx, b.account, b.source, time.Hour) },
		"TakeCapture":  func(tx store.Tx) error { return no(tx.TakeCapture(ctx, b.account, b.source)) },
		"AcceptRequest": func(tx store.Tx) error {
			return no(tx.AcceptRequest(ctx, b.account, b.source, b.request, b.together.ID))
		},
		"Siblings": func(store.Tx) error {
			found, err := b.Siblings(ctx, b.account, b.together, 9)
			return no(len(found) > 0, err)
		},
		"WholeRequest": func(store.Tx) error {
			_, err := b.WholeRequest(ctx, b.account, *b.together.RequestID)
			if errors.Is(err, gateway.ErrPayloadGone) {
				return gateway.ErrNotFound
			}
			return err
		},
		"EventType":       func(store.Tx) error { _, err := b.EventType(ctx, b.account, "theirs"); return err },
		"LockEventType":   func(tx store.Tx) error { _, err := tx.LockEventType(ctx, b.account, "theirs"); return err },
		"DeleteEventType": func(tx store.Tx) error { return tx.DeleteEventType(ctx, b.account, "theirs") },
		"UpdateEventType": func(tx store.Tx) error {
			_, err := tx.UpdateEventType(ctx, b.account, gateway.EventType{Name: "theirs", SingleFire: true, OnDoubt: gateway.OnDoubtHold})
			return err
		},
		"SingleFire": func(tx store.Tx) error {
			found, err := tx.SingleFire(ctx, b.account, []string{"theirs"})
			return no(len(found) > 0, err)
		},
		"DeclaredTypes": func(store.Tx) error {
			found, err := b.DeclaredTypes(ctx, b.account)
			return no(len(found) > 0, err)
		},
		"SourceSecrets": func(store.Tx) error {
			live, err := b.SourceSecrets(ctx, b.account, b.source)
			return no(len(live) > 0, err)
		},
	}
	for name, call := range calls {
		// What the call did is committed, so that it would show.
		b.in(t, func(tx store.Tx) error {
			if err := call(tx); !errors.Is(err, gateway.ErrNotFound) {
				t.Errorf("%s: %v, want ErrNotFound", name, err)
			}
			return nil
		})
	}
	touched := b.count(t, `
		SELECT (SELECT count(*) FROM endpoints WHERE updated_at <> created_at OR deleted_at IS NOT NULL)
		     + (SELECT count(*) FROM sources WHERE updated_at <> created_at OR deleted_at IS NOT NULL)
		     + (SELECT count(*) FROM event_types WHERE updated_at <> created_at OR single_fire)
		     + (SELECT count(*) FROM requests WHERE accepted_at IS NOT NULL)
		     + (SELECT count(*) FROM lanes WHERE wake_at IS NOT NULL)
		     + (SELECT count(*) FROM listeners WHERE left_at IS NOT NULL OR polls <> 1 OR seen_at <> connected_at)
		     + (SELECT 1 - count(*) FROM relays WHERE taken_at IS NULL AND reported_at IS NULL AND request_headers = '')
		     + (SELECT count(*) FROM failure_digests WHERE told_at IS NOT NULL)
		     + (SELECT count(*) FROM endpoint_secrets WHERE ends_at IS NOT NULL)
		     + (SELECT count(*) FROM source_secrets WHERE ends_at IS NOT NULL)`)
	if touched != 0 {
		t.Errorf("%d rows of the other account were changed", touched)
	}
}
