package demo

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"time"

	"github.com/rowlock/rowlock/internal/client"
)

// streams are all that happens.
func (d *demo) streams() []stream {
	return []stream{
		{after: 0, every: 900 * time.Millisecond, do: (&shop{demo: d, order: 1000}).next},
		{after: 200 * time.Millisecond, every: 1500 * time.Millisecond, do: d.payment},
		{after: 400 * time.Millisecond, every: 1200 * time.Millisecond, do: (&parcels{demo: d, number: 5000}).next},
		{after: time.Second, every: 7 * time.Second, do: d.push},
		{after: 2 * time.Second, every: 6 * time.Second, do: (&forger{demo: d}).next},
		{after: recoverAfter, every: recoverEvery, do: d.recover},
		{after: compareAfter, every: compareEvery, do: d.compare},
	}
}

// oneIn tells by chance, once in n times.
func oneIn(n int) bool { return mathrand.IntN(n) == 0 } //nolint:gosec // variety, not secrecy

func pick[T any](from []T) T { return from[mathrand.IntN(len(from))] } //nolint:gosec // as above

// newSecret is a signing secret.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

var (
	customers  = []string{"ada", "grace", "alan", "edsger", "barbara", "ken", "radia", "donald", "frances", "tony"}
	currencies = []string{"EUR", "EUR", "EUR", "USD", "GBP"}
)

// shop publishes what happens in the shop.
type shop struct {
	*demo

	order, tick int
}

// next lets the next thing happen. An order is placed before it is paid.
func (s *shop) next(ctx context.Context) error {
	s.tick++
	switch s.tick % 7 {
	case 1, 4:
		s.order++
		return s.place(ctx)
	case 2, 6:
		return s.pay(ctx)
	case 5:
		return s.checkCredit(ctx)
	default:
		return s.signUp(ctx)
	}
}

func (s *shop) pay(ctx context.Context) error {
	return s.publish(ctx, client.Event{
		Type: "order.paid", Subject: fmt.Sprint("order-", s.order), Key: fmt.Sprintf("order-%d-paid", s.order),
		Data: encode(map[string]any{"order": s.order}),
	})
}

// place is an order. Some the CRM refuses: those in a currency that it has to learn
// first, and those of nothing.
func (s *shop) place(ctx context.Context) error {
	data := map[string]any{"order": s.order, "customer": "cus_" + pick(customers), "total": float64(mathrand.IntN(9000)+500) / 100, "currency": pick(currencies)} //nolint:gosec // variety
	switch s.order % 7 {
	case 2:
		data["currency"] = newCurrency
	case 5:
		data["total"] = 0
	}
	return s.publish(ctx, client.Event{
		Type: "order.created", Subject: fmt.Sprint("order-", s.order), Key: fmt.Sprintf("order-%d-created", s.order), Data: encode(data),
	})
}

func (s *shop) signUp(ctx context.Context) error {
	name, user := pick(customers), fmt.Sprint("usr_", 1000+s.tick)
	return s.publish(ctx, client.Event{
		Type: "user.created", Subject: user, Key: user, Data: encode(map[string]any{"user": user, "email": fmt.Sprintf("%s.%d@example.com", name, s.tick)}),
	})
}

// checkCredit is told twice by two parts of the shop that do not know of each other:
// without a key, so that two events tell of one thing.
func (s *shop) checkCredit(ctx context.Context) error {
	customer := fmt.Sprintf("cus_%s_%d", pick(customers), s.tick)
	event := client.Event{Type: "credit.checked", Subject: customer, Data: encode(map[string]any{"customer": customer, "score": 400 + mathrand.IntN(450)})} //nolint:gosec // variety
	for range 2 {
		if err := s.publish(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes an event, and sometimes again, as who lost the answer does.
func (d *demo) publish(ctx context.Context, e client.Event) error {
	if _, err := d.api.Publish(ctx, e); err != nil {
		return err
	}
	d.count(tally{sent: 1})
	d.note(e.Type, e.Key)
	if e.Key == "" || !oneIn(6) {
		return nil
	}
	if _, err := d.api.Publish(ctx, e); err != nil {
		return err
	}
	d.count(tally{repeated: 1})
	return nil
}

// deliver sends a webhook, and sometimes again, as providers do.
func (d *demo) deliver(ctx context.Context, w webhook) error {
	if err := d.send(ctx, w); err != nil {
		return err
	}
	d.count(tally{sent: 1})
	if !oneIn(5) {
		return nil
	}
	if err := d.send(ctx, w); err != nil {
		return err
	}
	d.count(tally{repeated: 1})
	return nil
}

// id is one as providers make them.
func id(prefix string) string { return prefix + rand.Text()[:20] }

// payment is something that Stripe tells.
func (d *demo) payment(ctx context.Context) error {
	eventType, key := pick([]string{"invoice.paid", "invoice.paid", "charge.succeeded", "charge.refunded", "invoice.payment_failed"}), id("evt_")
	if err := d.deliver(ctx, stripeEvent(eventType, key)); err != nil {
		return err
	}
	d.note(eventType, key)
	return nil
}

func stripeEvent(eventType, key string) webhook {
	object := map[string]any{"id": id("in_"), "customer": "cus_" + pick(customers), "amount": 500 + mathrand.IntN(9000), "currency": "eur"} //nolint:gosec // variety
	return webhook{source: stripe, body: encode(map[string]any{
		"id": key, "object": "event", "type": eventType, "created": time.Now().Unix(), "data": map[string]any{"object": object},
	})}
}

// push is one to a repository; those to other branches than main are told to nobody,
// and no endpoint asks for the others.
func (d *demo) push(ctx context.Context) error { return d.deliver(ctx, gitHubPush()) }

func gitHubPush() webhook {
	return webhook{
		source: github, header: map[string]string{"X-Github-Event": "push", "X-Github-Delivery": id("")},
		body: encode(map[string]any{
			"ref": "refs/heads/" + pick([]string{"main", "try-it", "docs"}), "repository": map[string]any{"full_name": "harbor-coffee/shop"},
			"pusher": map[string]any{"name": pick(customers)}, "head_commit": map[string]any{"message": pick([]string{"Roast darker", "Count beans", "Mend the grinder"})},
		}),
	}
}

// forger sends what sources have to refuse, and the like.
type forger struct {
	*demo
	n int
}

func (f *forger) next(ctx context.Context) error {
	f.n++
	var w webhook
	switch f.n % 5 {
	case 1:
		w, w.fault = stripeEvent("invoice.paid", id("evt_")), strange
	case 2:
		w, w.fault = stripeEvent("charge.succeeded", id("evt_")), old
	case 3:
		w, w.fault = gitHubPush(), unsigned
	case 4:
		w, w.fault = shipment("SHP-4711", delivered), altered
	default:
		return f.otherBody(ctx)
	}
	if err := f.send(ctx, w); err != nil {
		return err
	}
	f.count(tally{forged: 1})
	return nil
}

// otherBody sends one id with two bodies, and a report that the rule cannot read.
func (f *forger) otherBody(ctx context.Context) error {
	first := shipment(fmt.Sprint("SHP-", 9000+f.n), inTransit)
	second := shipment(id("SHP-"), inTransit)
	second.header = maps.Clone(first.header)
	unreadable := webhook{source: carrier, header: map[string]string{"Webhook-Id": id("msg_")}, body: []byte(`{"status":"in_transit"}`)}
	for _, w := range []webhook{first, second, unreadable} {
		if err := f.send(ctx, w); err != nil {
			return err
		}
		f.count(tally{sent: 1})
	}
	return nil
}
