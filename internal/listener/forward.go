package listener

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
)

// take forwards an order, unless its delivery was confirmed before, or is being
// forwarded now: then it goes as that went.
func (l *Listener) take(ctx context.Context, o client.Order) {
	known, waits := l.begin(o)
	switch {
	case known != nil:
		l.printOrder(o, *known, "confirmed before")
		l.tell(o, *known)
		return
	case waits:
		return
	}
	r, cancelled := l.forward(ctx, o)
	if cancelled { // nobody knows how it went
		return
	}
	for i, one := range l.end(o.DeliveryID, r) {
		note := ""
		if i > 0 {
			note = "the same request"
		}
		l.printOrder(one, r, note)
		l.tell(one, r)
	}
}

// begin tells what is known of an order's delivery: that it was confirmed, or that
// the order waits for a request which is under way.
func (l *Listener) begin(o client.Order) (known *client.Report, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.confirmed[o.DeliveryID]; ok {
		return &r, false
	}
	_, waits = l.running[o.DeliveryID]
	l.running[o.DeliveryID] = append(l.running[o.DeliveryID], o)
	return nil, waits
}

// end returns the orders for which the request was, and remembers what the local
// program confirmed: from now on its delivery is not forwarded.
func (l *Listener) end(delivery string, r client.Report) []client.Order {
	l.mu.Lock()
	defer l.mu.Unlock()
	orders := l.running[delivery]
	delete(l.running, delivery)
	if outcomeOf(r) == gateway.OutcomeSucceeded {
		l.confirmed[delivery] = r
		l.counts.Confirmed++
	} else {
		l.counts.Failed++
	}
	return orders
}

// forward makes the request. cancelled tells that we ended it ourselves.
func (l *Listener) forward(ctx context.Context, o client.Order) (r client.Report, cancelled bool) {
	header := make(http.Header, len(o.Headers))
	for name, value := range o.Headers {
		header.Set(name, value)
	}
	got := l.out.Send(ctx, egress.Request{URL: l.ForwardTo, Header: header, Body: o.Body, Timeout: time.Duration(o.Timeout)})
	r = client.Report{
		StatusCode: got.Status, ErrorKind: string(got.Kind), Detail: clean(got.Detail), Headers: firstOf(got.Header), Body: got.Body,
		DurationMS: millis(got.Took),
		Timing: client.ReportTiming{
			DNS: millis(got.Timing.DNS), Connect: millis(got.Timing.Connect), TLS: millis(got.Timing.TLS), FirstByte: millis(got.Timing.FirstByte),
		},
	}
	if got.Cancelled || r.ErrorKind != "" {
		return r, got.Cancelled
	}
	if r.StatusCode < lowestStatus || r.StatusCode > highestStatus {
		detail := fmt.Sprintf("The local program answered with the status %d, which HTTP does not have. Answer with one from %d to %d.", r.StatusCode, lowestStatus, highestStatus)
		r.StatusCode, r.ErrorKind, r.Detail = 0, string(gateway.ErrorProtocol), detail
	}
	return r, false
}

// lowestStatus and highestStatus bound the statuses that HTTP has.
const lowestStatus, highestStatus = 100, 599

func firstOf(h http.Header) map[string]string {
	first := make(map[string]string, len(h))
	for name, values := range h {
		if len(values) == 0 {
			continue
		}
		first[clean(name)] = clean(values[0])
	}
	return first
}

// clean leaves out what no text of the API may hold.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
