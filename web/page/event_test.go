package page_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// attempt is one in which a text from outside stands wherever one can.
func attempt(text string) page.Attempt {
	headers := []component.Header{{Name: text, Value: text}}
	return page.Attempt{
		ID: "att_1", Name: text, N: 3, Failure: text, Tone: component.ToneBad, Trigger: text, Detail: text, StartedAt: noon,
		Took: 189 * time.Millisecond, Timing: component.Timing{DNS: time.Millisecond, Wait: time.Second},
		Answered: true, Request: headers, Response: headers, Body: []byte(text), Whole: "/a/acme/deliveries/dlv_1?attempt=3", Curl: text, Open: true,
	}
}

// event is one with so many deliveries and steps.
func event(n int, text string) page.Event {
	v := page.Event{
		Now: noon, ID: "evt_1", Path: "/a/acme/events/evt_1", List: "/a/acme/events", Type: text, Status: "retrying",
		Source: page.SourceRef{Name: text, Kind: "stripe", Href: "/a/acme/sources/src_1"}, ReceivedAt: noon, OccurredAt: &noon,
		Signature: "verified", SignatureText: "Verified", Subject: text, SubjectHref: "/a/acme/events?subject=x", Key: text,
		Decision: &page.Decision{Tone: component.ToneBad, Title: text, Text: text, Process: "/a/acme/events/evt_1/process"},
		Payload: page.Payload{
			Shown: []byte(text), Size: len(text), Raw: "/raw", Delete: "/delete", KeptUntil: noon,
			Headers: []component.Header{{Name: text, Value: text}}, Text: text, Curl: text,
		},
		Manages: true, Open: true,
	}
	for i := range n {
		a := attempt(text)
		a.ID = fmt.Sprint("att_", i)
		v.Deliveries = append(v.Deliveries, page.DeliveryLine{
			ID: fmt.Sprint("dlv_", i), Href: "/a/acme/deliveries/dlv_1", Endpoint: text, Host: text, Status: "retrying", Failure: text,
			Tone: component.ToneBad, Attempts: 3, NextAt: &noon, Action: "Retry noon", Primary: true,
			Failovers: []page.Failover{{Says: "Failed over to", Name: text, Href: "/a/acme/deliveries/dlv_2"}},
		})
		v.Steps = append(v.Steps, page.EventStep{Attempt: &a}, page.EventStep{Step: component.Step{Title: text, Note: text, End: text}, Href: "/x", Label: "Show"})
	}
	return v
}

func TestEventPage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 200} {
		d := drawn(t, page.EventPage(event(n, "order.created")))
		if got := d.Find("#deliveries tbody tr").Length(); got != n {
			t.Errorf("%d deliveries are drawn as %d", n, got)
		}
		if got := d.Find("#timeline .tl > li").Length(); got != 2*n {
			t.Errorf("%d steps are drawn as %d", 2*n, got)
		}
	}
}

// Who may only look is offered nothing that changes something.
func TestEventPageForOnlookers(t *testing.T) {
	t.Parallel()
	v := event(1, "order.created")
	v.Manages, v.Payload.Delete = false, ""
	d := drawn(t, page.EventPage(v))
	if d.Find("main form, main a[hx-get]").Length() != 0 {
		t.Error("the page offers to change something")
	}
}

func TestDeliveryPage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.DeliveryPage(page.Delivery{
		Frame: framed(), Now: noon, ID: "dlv_1", Path: "/p", List: "/l", Type: "order.created", Event: "evt_1", EventHref: "/e", Status: "failed",
		Line: page.DeliveryLine{Href: "/p", Action: "Redeliver", Attempts: 3}, CreatedAt: noon, Attempts: []page.Attempt{attempt("Timeout")}, Manages: true,
	}))
	if got := d.Find("main form input[name='if_attempts']").AttrOr("value", ""); got != "3" {
		t.Errorf("the button knows of %q attempts", got)
	}
	wantNumber(t, d, "#attempts details#att_1", 1)
	wantNumber(t, d, "[data-failover]", 0)
}

// A delivery that another endpoint was given leads there.
func TestDeliveryPageLeadsAlongTheChain(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Standby", hostile} {
		d := drawn(t, page.DeliveryPage(page.Delivery{Frame: framed(), Now: noon, CreatedAt: noon, Line: page.DeliveryLine{Failovers: []page.Failover{
			{Says: "Failover for", Name: text, Href: "/a/acme/deliveries/dlv_0"}, {Says: "Failed over to", Name: text, Href: "/a/acme/deliveries/dlv_2"},
		}}}))
		wantNumber(t, d, "a[data-failover]", 2)
		wantNumber(t, d, "a[data-failover][href='/a/acme/deliveries/dlv_2']", 1)
		if text != hostile {
			wantWords(t, d, "a[data-failover][href='/a/acme/deliveries/dlv_0']", text)
		}
	}
}

func TestAttemptsPage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.AttemptsPage(page.Attempts{SentList: page.SentList{Frame: framed(), Now: noon}, Rows: []page.AttemptLine{
		{ID: "att_1", Href: "/p", Failure: "Timeout", Type: "order.created", N: 1, StartedAt: noon},
		{ID: "att_2", Href: "/p", Code: 200, Event: "evt_1", N: 1, StartedAt: noon},
	}}))
	wantWords(t, d, "#att_1 a.cell", "order.created")
	wantWords(t, d, "#att_2 a.cell", "evt_1") // its event is gone
}

func TestDeliveriesPage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.DeliveriesPage(page.Deliveries{SentList: page.SentList{Frame: framed(), Now: noon}, Rows: []page.DeliveryRow{
		{ID: "dlv_1", Href: "/p", Status: "failed", Type: "order.created"},
		{ID: "dlv_2", Href: "/p", Status: "delivered", Event: "evt_1"},
	}}))
	wantWords(t, d, "#dlv_1 a.cell", "order.created")
	wantWords(t, d, "#dlv_2 a.cell", "evt_1") // its event is gone
}
