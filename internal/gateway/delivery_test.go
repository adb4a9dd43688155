package gateway_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestDeriveDeliveryID(t *testing.T) {
	t.Parallel()
	event := gateway.EventID{0x01, 0x93, 0x5b, 0x1e, 0xf0, 0xb7, 0x7c, 8: 0x9c, 15: 1}
	endpoint := gateway.EndpointID{0x01, 0x93, 15: 2}
	// Fixed for ever: deliveries that exist were derived like this.
	const want = "dlv_01jddhxw5qfhns49hnxrs0c000"
	got := gateway.DeriveDeliveryID(event, endpoint)
	if got.String() != want {
		t.Errorf("derived %s, want %s", got, want)
	}
	if got != gateway.DeriveDeliveryID(event, endpoint) {
		t.Error("derived twice, two ids")
	}
}

func TestDerivedIDsAreUUIDv7OfTheEventsTime(t *testing.T) {
	t.Parallel()
	r := seeded()
	seen := map[gateway.DeliveryID]bool{}
	for range 10_000 {
		event, endpoint := gateway.EventID(randomBytes(r)), gateway.EndpointID(randomBytes(r))
		id := gateway.DeriveDeliveryID(event, endpoint)
		if id[6]>>4 != 7 || id[8]>>6 != 2 {
			t.Fatalf("%x is no UUIDv7", [16]byte(id))
		}
		if !id.Time().Equal(event.Time()) {
			t.Fatalf("time %s, want the event's %s", id.Time(), event.Time())
		}
		if id[14] != 0 || id[15] != 0 {
			t.Fatalf("%x has no room for attempts", [16]byte(id))
		}
		if seen[id] {
			t.Fatalf("%s was derived from two pairs", id)
		}
		seen[id] = true
	}
}

// Each of the two ids matters in all its bytes.
func TestDerivedIDsDifferByEveryByte(t *testing.T) {
	t.Parallel()
	base := gateway.DeriveDeliveryID(gateway.EventID{}, gateway.EndpointID{})
	for i := range 16 {
		var changed [16]byte
		changed[i] = 1
		if gateway.DeriveDeliveryID(changed, gateway.EndpointID{}) == base {
			t.Errorf("byte %d of the event does not matter", i)
		}
		if gateway.DeriveDeliveryID(gateway.EventID{}, changed) == base {
			t.Errorf("byte %d of the endpoint does not matter", i)
		}
	}
}

func TestAttemptIDs(t *testing.T) {
	t.Parallel()
	delivery := gateway.DeriveDeliveryID(gateway.EventID{1}, gateway.EndpointID{2})
	last := gateway.AttemptID(delivery)
	for _, n := range []int{1, 2, 255, 256, 257, 65534, gateway.MaxAttempts} {
		id := gateway.DeriveAttemptID(delivery, n)
		if id.Compare(last) <= 0 {
			t.Errorf("attempt %d does not sort behind the one before", n)
		}
		last = id
		of, number, err := gateway.SplitAttemptID(id)
		if err != nil || of != delivery || number != n {
			t.Errorf("attempt %d of %s is split into %d of %s, %v", n, delivery, number, of, err)
		}
		a := gateway.Attempt{DeliveryID: delivery, N: n}
		if a.ID() != id || !a.ID().Time().Equal(delivery.Time()) {
			t.Errorf("attempt %d has the id %s of %s, want %s", n, a.ID(), a.ID().Time(), id)
		}
	}
	if _, _, err := gateway.SplitAttemptID(gateway.AttemptID(delivery)); !errors.Is(err, gateway.ErrBadID) {
		t.Errorf("attempt 0: %v, want ErrBadID", err)
	}
}

func TestEveryAttemptHasItsID(t *testing.T) {
	t.Parallel()
	delivery := gateway.DeriveDeliveryID(gateway.EventID{3}, gateway.EndpointID{4})
	for n := 1; n <= gateway.MaxAttempts; n++ {
		if of, number, err := gateway.SplitAttemptID(gateway.DeriveAttemptID(delivery, n)); err != nil || of != delivery || number != n {
			t.Fatalf("attempt %d is split into %d of %s, %v", n, number, of, err)
		}
	}
}

func TestADeliveryIsOfItsEventsDay(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	low, high := gateway.FirstIDAt[gateway.DeliveryID](day), gateway.FirstIDAt[gateway.DeliveryID](day.AddDate(0, 0, 1))
	for name, at := range map[string]time.Time{"first": day, "last": day.AddDate(0, 0, 1).Add(-time.Millisecond)} {
		id := gateway.DeriveDeliveryID(gateway.FirstIDAt[gateway.EventID](at), gateway.EndpointID{})
		if id.Compare(low) < 0 || id.Compare(high) >= 0 {
			t.Errorf("the %s event's delivery %s is outside its day", name, id)
		}
	}
}
