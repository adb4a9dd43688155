package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/problem"
)

const (
	// envelopeBytes is what may stand around the data of one event.
	envelopeBytes = 16 << 10
	// maxFields bounds the members of one event: it has six.
	maxFields = 32
	// headerKey is the header that carries an idempotency key, and
	// headerKeyPlace how faults name it.
	headerKey      = "Idempotency-Key"
	headerKeyPlace = "header." + headerKey
)

// publishBody is an event to publish. It is for the documentation: the body is
// taken apart by parseEvent, which leaves data as it was sent.
type publishBody struct {
	Type       string          `json:"type" pattern:"^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,255}$" example:"order.created" doc:"What happened."`
	Data       json.RawMessage `json:"data" example:"{\"order\":\"A-1001\",\"total\":129.9}" doc:"Any JSON value. It is delivered byte for byte as sent."`
	Subject    string          `json:"subject,omitempty" nullable:"true" minLength:"1" maxLength:"1024" example:"order-A-1001" doc:"What it happened to, in 1 to 1,024 bytes."`
	Key        string          `json:"key,omitempty" nullable:"true" minLength:"1" maxLength:"1024" example:"order-A-1001-created" doc:"The idempotency key, 1 to 1,024 bytes: repeats with it are one event. The same as the header Idempotency-Key."`
	OccurredAt *time.Time      `json:"occurred_at,omitempty" nullable:"true" doc:"When it happened (RFC 3339), in the years 1 to 9999."`
}

// publishInput is for the documentation too; parseEvent reads the header.
type publishInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"1024" doc:"Repeats of a call with the same key are one event."`
}

// publishedView says that an event is stored.
type publishedView struct {
	ID        gateway.EventID `json:"id" example:"evt_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Type      string          `json:"type" example:"order.created"`
	Duplicate bool            `json:"duplicate" doc:"The key was known: the id is the first event's, and no new one was made."`
	CreatedAt timestamp       `json:"created_at"`
}

type publishReply struct {
	Status int
	Body   publishedView
}

func (a *API) publish(ctx context.Context, who caller, _ *publishInput, sent raw) (*publishReply, error) {
	event, err := a.parseEvent(sent.body, "body")
	if err != nil {
		return nil, err
	}
	inBody := event.Key != nil
	if err := addHeaderKey(&event, sent.header); err != nil {
		return nil, err
	}
	done, err := a.Accept.Publish(ctx, who.account(), who.key, event)
	if err != nil {
		return nil, problem.Locate(err, func(field string) string {
			if field == "key" && !inBody {
				return headerKeyPlace
			}
			return within("body", field)
		})
	}
	a.countAccepted(done.Duplicate)
	return &publishReply{publishStatus(done), publishedView{done.ID, done.Type, done.Duplicate, timestamp(done.CreatedAt)}}, nil
}

// publishStatus tells a new event from a repeat.
func publishStatus(done accept.Published) int {
	if done.Duplicate {
		return http.StatusOK
	}
	return http.StatusAccepted
}

func (a *API) countAccepted(duplicate bool) {
	if a.Accepted != nil {
		a.Accepted(duplicate)
	}
}

// The operations that publish.
const (
	publishOne  = "publishEvent"
	publishMany = "publishEvents"
)

func (a *API) countRefused(operation string, code problem.Code) {
	if a.Refused != nil && (operation == publishOne || operation == publishMany) {
		a.Refused(code)
	}
}

// parseEvent takes one event apart. at is where it stands in the request.
func (a *API) parseEvent(text []byte, at string) (accept.PublishInput, error) {
	p := eventParser{at: at, seen: map[string]bool{}}
	members, err := strictjson.Members(text, maxFields)
	if err != nil {
		return p.event, jsonProblem(err, at)
	}
	for _, m := range members {
		p.member(m)
	}
	p.require("type")
	p.require("data")
	if len(p.faults) > 0 {
		return p.event, problem.New(problem.Invalid, "", p.faults...)
	}
	if len(p.event.Data) > a.MaxBody {
		return p.event, problem.New(problem.PayloadTooLarge, "", problem.Fault{
			Message:  fmt.Sprintf("is larger than the %d bytes that data may have (ROWLOCK_MAX_BODY)", a.MaxBody),
			Location: within(at, "data"),
		})
	}
	return p.event, nil
}

// eventParser fills an event, field by field.
type eventParser struct {
	event  accept.PublishInput
	at     string
	seen   map[string]bool
	faults []problem.Fault
}

func (p *eventParser) fault(field, format string, args ...any) {
	p.faults = append(p.faults, problem.Fault{Message: fmt.Sprintf(format, args...), Location: within(p.at, field)})
}

func (p *eventParser) require(field string) {
	if !p.seen[field] {
		p.fault(field, "is required")
	}
}

func (p *eventParser) member(m strictjson.Member) {
	name, err := strictjson.Text(m.Name)
	if err != nil {
		p.fault("", "a field name %s", err)
		return
	}
	if p.seen[name] {
		p.fault(name, "comes more than once")
		return
	}
	switch name {
	case "data":
		p.event.Data = m.Value
	case "type", "subject", "key", "occurred_at":
		p.text(name, m.Value)
	default:
		p.fault(strictjson.SafeName(name), "unknown field; known here: data, key, occurred_at, subject, type")
		return
	}
	p.seen[name] = true
}

// text reads a field that is a string. Null is the same as not given, but for
// type, which is required.
func (p *eventParser) text(name string, value []byte) {
	if strictjson.IsNull(value) && name != "type" {
		return
	}
	text, err := strictjson.Text(value)
	if err != nil {
		p.fault(name, "%s", err)
		return
	}
	switch name {
	case "type":
		p.event.Type = text
	case "subject":
		p.event.Subject = &text
	case "key":
		p.event.Key = []byte(text)
	case "occurred_at":
		p.time(text)
	}
}

func (p *eventParser) time(text string) {
	at, err := parseMoment(text)
	if err != nil {
		p.fault("occurred_at", "%s", err)
		return
	}
	p.event.OccurredAt = &at
}

// addHeaderKey takes the key from the header. It and the field mean the same,
// so that two different ones contradict each other.
func addHeaderKey(event *accept.PublishInput, header http.Header) error {
	for _, value := range header.Values(headerKey) {
		if event.Key != nil && string(event.Key) != value {
			return problem.At(headerKeyPlace, "differs from the key that is given elsewhere in the request")
		}
		event.Key = []byte(value)
	}
	return nil
}

// itemPlace is where an event of a batch stands.
func itemPlace(i int) string { return "body.events[" + strconv.Itoa(i) + "]" }
