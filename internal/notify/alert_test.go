package notify_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// in runs a transaction that must succeed.
func (b bundle) in(t *testing.T, do func(store.Tx) error) {
	t.Helper()
	if err := b.store.InTx(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

func (b bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// newTenant makes an account and an endpoint of it, which this node may send
// for.
func (b bundle) newTenant(t *testing.T, name string) store.Lane {
	t.Helper()
	account, endpoint, source := gateway.AccountID(b.clock.NewID()), gateway.EndpointID(b.clock.NewID()), gateway.SourceID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		slug, _, _ := strings.Cut(strings.ToLower(name), " ")
		err := tx.CreateAccount(t.Context(), gateway.Account{ID: account, Name: name, Slug: slug})
		if err != nil {
			return err
		}
		if _, err := tx.CreateSource(t.Context(), account, gateway.Source{ID: source, Kind: gateway.SourceKindAPI, Token: source.String()}); err != nil {
			return err
		}
		_, err = tx.CreateEndpoint(t.Context(), account, gateway.Endpoint{ID: endpoint, URL: "https://billing.example.com/in?token=secret", MaxInFlight: 1}, 0)
		return err
	})
	lane, ok, err := b.store.AcquireLane(t.Context(), account, endpoint, "n")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return lane
}

// newMember adds a person, whose mail address is name@example.com, and who
// chooses these kinds; none named leaves the choice to their role.
func (b bundle) newMember(t *testing.T, account gateway.AccountID, name string, role gateway.Role, kinds ...gateway.AlertKind) gateway.UserID {
	t.Helper()
	id := gateway.UserID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateUser(t.Context(), store.User{ID: id, Email: name + "@example.com", Name: name}, ""); err != nil {
			return err
		}
		return tx.AddMember(t.Context(), account, id, role)
	})
	if len(kinds) > 0 {
		if err := b.Choose(t.Context(), account, gateway.Actor(id.String()), id, kinds); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// emit has Rowlock tell something of an account.
func (b bundle) emit(t *testing.T, account gateway.AccountID, eventType string, what any) {
	t.Helper()
	data, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	b.in(t, func(tx store.Tx) error {
		return tx.Emit(t.Context(), account, gateway.EventID(b.clock.NewID()), eventType, data)
	})
}

// alert does a round of several nodes at once.
func (b bundle) alert(t *testing.T) {
	t.Helper()
	var nodes sync.WaitGroup
	for range 4 {
		nodes.Go(func() {
			if err := b.Alert(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
}

// wantMails fails unless these mails were written since the last call, as
// "name: subject".
func (b bundle) wantMails(t *testing.T, want ...string) {
	t.Helper()
	all, err := b.Mails(t.Context(), store.Page[gateway.MailID]{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, len(all))
	for i, m := range all {
		got[i] = strings.TrimSuffix(m.To, "@example.com") + ": " + m.Subject
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("mails (-want +got):\n%s", diff)
	}
	b.exec(t, `DELETE FROM mails`)
}

func TestMembersWhoAskAreToldOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, "")
	lane, other := b.newTenant(t, "Acme"), b.newTenant(t, "Other")
	account, endpoint := lane.AccountID, lane.EndpointID
	b.newMember(t, account, "owner", gateway.RoleOwner)
	b.newMember(t, account, "member", gateway.RoleViewer)
	gone := b.newMember(t, account, "gone", gateway.RoleViewer, gateway.AlertKinds...)
	b.newMember(t, account, "asks", gateway.RoleViewer, gateway.AlertEndpointDisabled, gateway.AlertDeliveryExpired, gateway.AlertOperationDone)
	b.newMember(t, account, "early", gateway.RoleAdmin, gateway.AlertEndpointFailingEarly)
	b.newMember(t, other.AccountID, "stranger", gateway.RoleOwner, gateway.AlertKinds...)
	b.exec(t, `DELETE FROM members WHERE user_id = $1`, gone)

	b.emit(t, account, gateway.TypeEndpointDisabled, gateway.EndpointDisabledData{EndpointID: endpoint, Reason: "100 failures in a row"})
	b.alert(t)
	b.alert(t)
	const disabled = "[Acme] billing.example.com was disabled: 100 failures in a row"
	b.wantMails(t, "owner: "+disabled, "asks: "+disabled)

	for _, percent := range gateway.FailingPercents {
		b.emit(t, account, gateway.TypeEndpointFailing, gateway.EndpointFailingData{EndpointID: endpoint, Percent: percent, Failures: percent, DisableAfter: 100})
	}
	b.alert(t)
	const failing = "[Acme] billing.example.com is failing: "
	b.wantMails(t, "early: "+failing+"50 of 100 failures in a row", "early: "+failing+"70 of 100 failures in a row", "owner: "+failing+"90 of 100 failures in a row")

	b.emit(t, account, gateway.TypeClaimDoubtful, gateway.ClaimDoubtfulData{EndpointID: endpoint, EventType: "credit.checked", Subject: "customer-1"})
	b.alert(t)
	b.wantMails(t, "owner: [Acme] In doubt whether billing.example.com was told of credit.checked")

	b.emit(t, account, gateway.TypeDeliveryExpired, gateway.DeliveryExpiredData{Day: "2026-07-01", Deliveries: 2})
	b.emit(t, account, gateway.TypeOperationDone, gateway.OperationDoneData{Kind: "redeliver", State: "done", Total: 1234, Done: 1234})
	b.emit(t, account, gateway.TypeTest, nil)
	b.alert(t)
	b.wantMails(t, "asks: [Acme] 2 deliveries of 2026-07-01 expired", "asks: [Acme] A redelivery of many is done: 1,234 of 1,234")
}

// Failed deliveries of an hour are one mail for each who asked.
func TestFailedDeliveriesAreOneMailAnHour(t *testing.T) {
	t.Parallel()
	b := newBundle(t, "")
	lane := b.newTenant(t, "Acme")
	b.newMember(t, lane.AccountID, "owner", gateway.RoleOwner)
	b.newMember(t, lane.AccountID, "ada", gateway.RoleViewer, gateway.AlertDeliveryFailed)
	b.newMember(t, lane.AccountID, "bob", gateway.RoleViewer, gateway.AlertDeliveryFailed)
	gather := func(n int64) {
		b.in(t, func(tx store.Tx) error {
			return tx.GatherFailed(t.Context(), lane, map[string]int64{"503": n}, store.DigestPace{Gather: time.Minute, Between: time.Hour})
		})
	}
	gather(20)
	gather(3)
	b.alert(t)
	b.wantMails(t) // more may come within the minute
	b.exec(t, `UPDATE failure_digests SET due_at = due_at - interval '1 minute'`)
	b.alert(t)
	b.wantMails(t, "ada: [Acme] 23 deliveries to billing.example.com failed", "bob: [Acme] 23 deliveries to billing.example.com failed")
	gather(1)
	b.exec(t, `UPDATE failure_digests SET due_at = due_at - interval '59 minutes'`)
	b.alert(t)
	b.wantMails(t)
	b.exec(t, `UPDATE failure_digests SET due_at = due_at - interval '1 minute'`)
	b.alert(t)
	b.wantMails(t, "ada: [Acme] 1 delivery to billing.example.com failed", "bob: [Acme] 1 delivery to billing.example.com failed")
}

// An endpoint that was deleted meanwhile is no news, and what cannot be read
// keeps nothing else back.
func TestNewsThatAreNone(t *testing.T) {
	t.Parallel()
	b := newBundle(t, "")
	lane := b.newTenant(t, "Acme")
	b.newMember(t, lane.AccountID, "owner", gateway.RoleOwner, gateway.AlertKinds...)
	b.emit(t, lane.AccountID, gateway.TypeOperationDone, "not an object")
	b.emit(t, lane.AccountID, gateway.TypeEndpointDisabled, gateway.EndpointDisabledData{EndpointID: lane.EndpointID})
	b.emit(t, lane.AccountID, gateway.TypeDeliveryExpired, gateway.DeliveryExpiredData{Day: "2026-07-01", Deliveries: 1})
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), lane.AccountID, lane.EndpointID) })
	b.alert(t)
	b.wantMails(t, "owner: [Acme] 1 delivery of 2026-07-01 expired")
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM alerts`); n != 0 || !strings.Contains(b.log.String(), "an alert cannot be read") {
		t.Errorf("%d alerts are left; log %s", n, b.log)
	}
}

// With a mail server they are sent, and no name of an account becomes a header.
func TestAlertsAreSent(t *testing.T) {
	t.Parallel()
	server := (&smtpServer{}).start(t)
	b := newBundle(t, server.url())
	lane := b.newTenant(t, "Acme \r\nBcc: eve@example.com\r\n\r\nHello")
	b.newMember(t, lane.AccountID, "owner", gateway.RoleOwner)
	b.emit(t, lane.AccountID, gateway.TypeEndpointDisabled, gateway.EndpointDisabledData{EndpointID: lane.EndpointID, Reason: "gone"})
	b.alert(t)
	all, err := b.Mails(t.Context(), store.Page[gateway.MailID]{Limit: 100})
	if err != nil || len(all) != 1 || all[0].DueAt == nil {
		t.Fatalf("%+v, %v", all, err)
	}
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM river_job WHERE kind = 'mail' AND args->>'mail_id' = $1`, all[0].ID.String()); n != 1 {
		t.Errorf("%d jobs send it", n)
	}
	if err := b.Send(t.Context(), all[0].ID); err != nil {
		t.Fatal(err)
	}
	got := server.got()
	if len(got) != 1 || !strings.Contains(got[0].to, "owner@example.com") || strings.Contains(got[0].to, "eve") {
		t.Fatalf("%+v", got)
	}
	head, body, _ := strings.Cut(strings.ReplaceAll(got[0].text, "\r\n", "\n"), "\n\n")
	if strings.Contains(head, "\nBcc") || strings.HasPrefix(body, "Hello") {
		t.Errorf("%s", got[0].text)
	}
}

func TestChoosing(t *testing.T) {
	t.Parallel()
	b := newBundle(t, "")
	account := b.newTenant(t, "Acme").AccountID
	ada := b.newMember(t, account, "ada", gateway.RoleAdmin)
	want := func(role gateway.Role, kinds ...gateway.AlertKind) {
		t.Helper()
		got, err := b.Chosen(t.Context(), account, ada, role.May)
		if diff := cmp.Diff(append([]gateway.AlertKind{}, kinds...), append([]gateway.AlertKind{}, got...)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	choose := func(user gateway.UserID, kinds ...gateway.AlertKind) error {
		return b.Choose(t.Context(), account, gateway.Actor(ada.String()), user, kinds)
	}
	want(gateway.RoleAdmin, gateway.AlertEndpointDisabled, gateway.AlertEndpointFailing, gateway.AlertClaimDoubtful, gateway.AlertKeyEnds)
	want(gateway.RoleOperator, gateway.AlertEndpointDisabled, gateway.AlertEndpointFailing, gateway.AlertClaimDoubtful)
	want(gateway.RoleViewer)
	for range 2 { // the second changes nothing
		if err := choose(ada, gateway.AlertOperationDone, gateway.AlertDeliveryFailed); err != nil {
			t.Fatal(err)
		}
		want(gateway.RoleAdmin, gateway.AlertDeliveryFailed, gateway.AlertOperationDone)
	}
	if err := choose(ada); err != nil {
		t.Fatal(err)
	}
	want(gateway.RoleAdmin)
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM audit_log WHERE action = 'member.choose_mails' AND detail IN ('nothing', 'delivery.failed, operation.done')`); n != 2 {
		t.Errorf("%d entries of the audit log", n)
	}
	invalid := &gateway.InvalidError{}
	if err := choose(ada, "x"); !errors.As(err, &invalid) {
		t.Errorf("%v", err)
	}
	if err := choose(gateway.UserID(b.clock.NewID()), gateway.AlertKinds...); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a stranger chooses: %v", err)
	}
}

// Of a key that ends within a week those are told, once, who can make another;
// of one that was made to live for less, that has ended or that never does, nobody.
func TestKeysThatEndAreToldOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, "")
	account, other := b.newTenant(t, "Acme").AccountID, b.newTenant(t, "Other").AccountID
	b.newMember(t, account, "owner", gateway.RoleOwner)
	b.newMember(t, account, "admin", gateway.RoleAdmin)
	b.newMember(t, account, "operator", gateway.RoleOperator)
	b.newMember(t, other, "stranger", gateway.RoleOwner)
	const day = 24 * time.Hour
	now := b.clock.Now()
	ends := map[string]time.Duration{"soon": 7*day - time.Hour, "later": 7*day + time.Hour, "ended": -time.Hour, "short": time.Hour}
	for name, in := range ends {
		id := gateway.KeyID(b.clock.NewID())
		at := now.Add(in)
		b.in(t, func(tx store.Tx) error {
			return tx.CreateAPIKey(t.Context(), account, gateway.APIKey{ID: id, Name: name, EndsAt: &at}, [32]byte(append(id[:], id[:]...)))
		})
		if name != "short" {
			b.exec(t, `UPDATE api_keys SET created_at = created_at - interval '30 days' WHERE id = $1`, id)
		}
	}
	b.in(t, func(tx store.Tx) error {
		return tx.CreateAPIKey(t.Context(), account, gateway.APIKey{ID: gateway.KeyID(b.clock.NewID()), Name: "endless"}, [32]byte{1})
	})
	b.alert(t)
	b.alert(t)
	subject := "[Acme] The API key soon ends at " + now.Add(ends["soon"]).UTC().Format("2006-01-02 15:04 UTC")
	b.wantMails(t, "owner: "+subject, "admin: "+subject)
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM api_keys WHERE end_told_at IS NOT NULL`); n != 1 {
		t.Errorf("%d keys are told of", n)
	}
}
