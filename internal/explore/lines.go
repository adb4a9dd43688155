package explore

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
)

// writer writes events one by one. What it has written is handed over by flush.
type writer interface {
	// write writes an event; body is nil where it is not asked for, or gone.
	write(r row, body []byte) error
	flush() error
}

// timeForm is how times are written: always with six digits, so that texts sort.
const timeForm = "2006-01-02T15:04:05.000000Z"

// moment is a time in a text; empty for none.
func moment(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(timeForm)
}

// valid replaces what a text of JSON or of a table cannot carry.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return valid(*text)
}

// line is an event as one JSON object. Names are those of the API.
type line struct {
	ID               gateway.EventID     `json:"id"`
	Type             string              `json:"type"`
	ReceivedType     string              `json:"received_type,omitempty"`
	Subject          string              `json:"subject,omitempty"`
	State            string              `json:"state,omitempty"`
	FactID           *gateway.FactID     `json:"fact_id,omitempty"`
	Key              *string             `json:"key,omitempty"`
	Status           gateway.EventStatus `json:"status"`
	Decision         string              `json:"decision,omitempty"`
	SourceID         gateway.SourceID    `json:"source_id"`
	SecretID         *gateway.SecretID   `json:"secret_id,omitempty"`
	RequestID        *gateway.RequestID  `json:"request_id,omitempty"`
	BodySize         int                 `json:"body_size"`
	OccurredAt       string              `json:"occurred_at,omitempty"`
	CreatedAt        string              `json:"created_at"`
	WaitUntil        string              `json:"wait_until,omitempty"`
	PayloadDeletedAt string              `json:"payload_deleted_at,omitempty"`
	Progress         gateway.Progress    `json:"progress,omitempty"`
	Deliveries       int                 `json:"deliveries"`
	Delivered        int                 `json:"delivered"`
	// Payload is the body where it is JSON, as it came; PayloadBase64 any other.
	Payload       json.RawMessage `json:"payload,omitempty"`
	PayloadBase64 []byte          `json:"payload_base64,omitempty"`
}

func lineOf(r row) line {
	l := line{
		ID: r.ID, Type: r.Type, ReceivedType: textOf(r.ReceivedType), Subject: textOf(r.Subject), State: textOf(r.State), FactID: r.FactID,
		Status: r.Status, Decision: r.Decision, SourceID: r.SourceID, SecretID: r.SecretID, RequestID: r.RequestID, BodySize: r.BodySize,
		OccurredAt: moment(r.OccurredAt), CreatedAt: r.ID.Time().UTC().Format(timeForm), WaitUntil: moment(r.WaitUntil), PayloadDeletedAt: moment(r.PayloadDeletedAt),
		Progress: r.progress.Overall(), Deliveries: r.progress.Total, Delivered: r.progress.Delivered,
	}
	if r.Key != nil {
		l.Key = new(valid(string(r.Key)))
	}
	return l
}

// lines writes NDJSON.
type lines struct {
	to  io.Writer
	buf bytes.Buffer
}

func newLines(to io.Writer) *lines { return &lines{to: to} }

func (w *lines) write(r row, body []byte) error {
	l := lineOf(r)
	switch {
	case body == nil:
	case json.Valid(body) && utf8.Valid(body) && !bytes.ContainsAny(body, "\r\n"):
		return w.writeWith(l, body)
	default:
		l.PayloadBase64 = body
	}
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", r.ID, err)
	}
	w.buf.Write(text)
	w.buf.WriteByte('\n')
	return nil
}

// writeWith writes an event with a payload that is JSON of one line, byte for
// byte: a library would write it anew.
func (w *lines) writeWith(l line, payload []byte) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", l.ID, err)
	}
	w.buf.Write(text[:len(text)-1])
	w.buf.WriteString(`,"payload":`)
	w.buf.Write(payload)
	w.buf.WriteString("}\n")
	return nil
}

func (w *lines) flush() error {
	if w.buf.Len() == 0 {
		return nil
	}
	_, err := w.buf.WriteTo(w.to)
	if err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return nil
}

// columns are those of a table.
var columns = []string{
	"id", "type", "status", "progress", "source", "source_id", "subject", "key", "deliveries", "delivered", "body_size", "occurred_at", "created_at",
}

// table writes CSV.
type table struct{ csv *csv.Writer }

func newTable(to io.Writer) *table {
	t := &table{csv.NewWriter(to)}
	_ = t.csv.Write(columns) // what goes wrong is told by flush
	return t
}

func (w *table) write(r row, _ []byte) error {
	cells := []string{
		r.ID.String(), valid(r.Type), string(r.Status), string(r.progress.Overall()), valid(r.source), r.SourceID.String(), textOf(r.Subject), valid(string(r.Key)),
		strconv.Itoa(r.progress.Total), strconv.Itoa(r.progress.Delivered), strconv.Itoa(r.BodySize), moment(r.OccurredAt), r.ID.Time().UTC().Format(timeForm),
	}
	for i, cell := range cells {
		cells[i] = gateway.PlainCell(cell)
	}
	return w.csv.Write(cells) //nolint:wrapcheck // the caller says what was written
}

func (w *table) flush() error {
	w.csv.Flush()
	if err := w.csv.Error(); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return nil
}
