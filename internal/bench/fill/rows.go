package fill

import (
	"crypto/sha256"
	"fmt"
	"iter"

	"github.com/rowlock/rowlock/internal/gateway"
)

// requestHeaders are those of every event and attempt.
var requestHeaders = []byte("Content-Type: application/json\r\nUser-Agent: fill\r\nWebhook-Version: 1\r\n")

// tables are the rows of the events from first to before last.
func (h *history) tables(first, last int) []table {
	events := make([]event, last-first)
	for i := range events {
		events[i] = h.event(first + i)
	}
	return []table{
		{"event_keys", []string{"account_id", "source_id", "key_hash", "event_id", "body_hash", "seen_at"}, each(events, h.keyRow)},
		{"events", []string{
			"id", "account_id", "source_id", "type", "subject", "key", "status", "decide_after", "body_size",
		}, each(events, h.eventRow)},
		{"event_bodies", []string{"id", "account_id", "method", "path", "query", "headers", "body"}, each(events, h.bodyRow)},
		{"deliveries", []string{
			"id", "account_id", "event_id", "endpoint_id", "status", "priority", "attempts", "step",
			"next_attempt_at", "last_outcome", "last_error_kind", "last_status_code", "created_at", "closed_at",
		}, each(events, h.deliveryRows)},
		{"attempts", []string{
			"delivery_id", "n", "account_id", "endpoint_id", "event_id", "trigger", "fence",
			"started_at", "duration_us", "first_byte_us", "outcome", "error_kind", "status_code", "request_headers", "response_body",
		}, each(events, h.attemptRows)},
		{"requests", []string{
			"id", "account_id", "source_id", "cause", "event_id", "method", "path", "query", "headers", "body", "body_size",
		}, each(events, h.requestRow)},
	}
}

// bodyEnd ends every body.
const bodyEnd = `"}`

// yield takes a row; false means that no more are wanted.
type yield = func([]any) bool

// each makes the rows of one table, event by event.
func each(events []event, rows func(e *event, put yield) bool) iter.Seq[[]any] {
	return func(put func([]any) bool) {
		for i := range events {
			if !rows(&events[i], put) {
				return
			}
		}
	}
}

func (h *history) keyRow(e *event, put yield) bool {
	key, body := sha256.Sum256(e.key()), sha256.Sum256(e.id[:])
	return put([]any{e.account.ID, e.source, key[:], e.id, body[:], e.at})
}

func (h *history) eventRow(e *event, put yield) bool {
	return put([]any{e.id, e.account.ID, e.source, e.kind, e.subject(), e.key(), string(e.status), e.at, len(h.body)})
}

// bodyRow's bodies differ, as real ones do, from the first byte on.
func (h *history) bodyRow(e *event, put yield) bool {
	body := fmt.Appendf(make([]byte, 0, len(h.body)), `{"id":"%s","n":%d,"data":"`, e.id, e.n)
	if rest := len(h.body) - len(body) - len(bodyEnd); rest > 0 {
		body = append(body, h.body[:rest]...)
	}
	body = append(body, bodyEnd...)
	return put([]any{e.id, e.account.ID, "POST", []byte{}, []byte{}, requestHeaders, body})
}

func (h *history) deliveryRows(e *event, put yield) bool {
	for i := range e.deliveries {
		d := &e.deliveries[i]
		outcome, cause := d.last()
		if !put([]any{
			d.id, e.account.ID, e.id, d.endpoint, string(d.status), d.priority(), d.attempts(), d.attempts(),
			h.nextAttempt(e, d), outcome, string(cause.ErrorKind), cause.StatusCode, e.at, e.closedAt(d),
		}) {
			return false
		}
	}
	return true
}

func (h *history) attemptRows(e *event, put yield) bool {
	for i := range e.deliveries {
		for n, answer := range e.deliveries[i].answers {
			if !put(attemptRow(e, &e.deliveries[i], n+1, answer)) {
				return false
			}
		}
	}
	return true
}

func attemptRow(e *event, d *delivery, n int, a answer) []any {
	return []any{
		d.id, n, e.account.ID, d.endpoint, e.id, string(gateway.TriggerAuto), int64(1),
		e.startedAt(n), int64(20_000), int64(18_000), string(a.outcome), string(a.cause.ErrorKind), a.cause.StatusCode, requestHeaders, []byte("ok"),
	}
}

// requestEvery is how many events there are to one request that is none.
const requestEvery = 10

func (h *history) requestRow(e *event, put yield) bool {
	if e.n%requestEvery != 0 {
		return true
	}
	r := h.random(requestStream, e.n)
	return put([]any{
		newID[gateway.RequestID](e.at, r), e.account.ID, e.source, pick(r, causes), e.id,
		"POST",
		[]byte{},
		[]byte{},
		requestHeaders, h.body, len(h.body),
	})
}
