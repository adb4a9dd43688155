package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

const (
	// pollDeadline bounds one asking of a listener: it waits for something to send.
	pollDeadline = deliver.ListenTime + 10*time.Second
	// maxHolding is how many orders a listener may hold: as many as an endpoint may
	// have in flight, and those that another holder of its lane gave out.
	maxHolding = 2 * gateway.MaxMaxInFlight
	// maxReportBytes is the largest request with reports, in bytes.
	maxReportBytes = 4 << 20
	// longestReport bounds a time that a listener tells: far longer than any
	// attempt may take.
	longestReport = time.Hour
)

// ListenerView is who listens for an endpoint, or did last.
type ListenerView struct {
	Connected   bool      `json:"connected" doc:"Whether it is there now."`
	Host        string    `json:"host" example:"jo-laptop" doc:"The machine that it runs on, as it says."`
	ConnectedAt timestamp `json:"connected_at" doc:"When it came."`
	SeenAt      timestamp `json:"seen_at" doc:"When it was heard last."`
}

// addListeners adds to endpoints of the kind listen who listens for them.
func (a *API) addListeners(ctx context.Context, who caller, shown []EndpointView) error {
	var ids []gateway.EndpointID
	for i := range shown {
		if shown[i].Kind == gateway.EndpointListen {
			ids = append(ids, shown[i].ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	listeners, err := a.Store.Listeners(ctx, who.account(), ids)
	for i := range shown {
		if l, ok := listeners[shown[i].ID]; ok {
			shown[i].Listener = &ListenerView{
				Connected: l.Connected, Host: l.Host, ConnectedAt: timestamp(l.ConnectedAt), SeenAt: timestamp(l.SeenAt),
			}
		}
	}
	return err
}

// pollBody is a listener's asking for what it is to send.
type pollBody struct {
	Listener string   `json:"listener" minLength:"16" maxLength:"64" pattern:"^[A-Za-z0-9_-]{16,64}$" example:"kq3v9c8x7k2q5n4t6w8y0za1" doc:"The listener's own name for this run of it: drawn at its start, and the same in all its calls."`
	Host     *string  `json:"host,omitempty" nullable:"true" maxLength:"100" example:"jo-laptop" doc:"The machine that it runs on, for people."`
	Holding  []string `json:"holding,omitempty" nullable:"true" maxItems:"2000" doc:"The ids of orders that it has and whose reports are not known to have arrived. Others that it was given before were lost on the way, and are given again."`
}

// orderView is an attempt for a listener to make: a POST of the body with the
// headers.
type orderView struct {
	ID         gateway.AttemptID  `json:"id" example:"att_06h1m3v9c8x7k2q5n4t6w8y0za" doc:"The attempt's: report with it."`
	DeliveryID gateway.DeliveryID `json:"delivery_id" doc:"The same for every attempt. Whoever has had it confirmed reports that again instead of sending it twice."`
	EventID    gateway.EventID    `json:"event_id"`
	EventType  string             `json:"event_type" example:"order.created"`
	Number     int                `json:"number" doc:"1 for the first attempt."`
	Headers    map[string]string  `json:"headers" nullable:"false" doc:"To send as they are; signed now."`
	Body       []byte             `json:"body" doc:"To send byte for byte; in base64."`
	Timeout    string             `json:"timeout" example:"15s" doc:"For the whole of it, connect to last byte."`
}

type ordersView struct {
	Orders []orderView `json:"orders" nullable:"false" doc:"None: there was nothing to send. Ask again."`
}

func (a *API) pollListener(ctx context.Context, who caller, in *endpointPath, body pollBody) (*objectReply[ordersView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	asking, err := body.asking()
	if err != nil {
		return nil, err
	}
	asking.Stop = a.Stopping
	orders, err := a.Deliver.Listen(ctx, who.account(), who.actor(), id, asking)
	return object(orders, err, viewOrders)
}

func (b pollBody) asking() (l deliver.Listening, err error) {
	if err := checkListener(b.Listener); err != nil {
		return l, err
	}
	l.Listener.ID = b.Listener
	if b.Host != nil {
		l.Listener.Host = *b.Host
	}
	if host := l.Listener.Host; utf8.RuneCountInString(host) > gateway.MaxListenerHost || strings.ContainsRune(host, 0) {
		return l, problem.At("body.host", "want at most %d characters, and no NUL", gateway.MaxListenerHost)
	}
	if len(b.Holding) > maxHolding {
		return l, problem.At("body.holding", "want at most %d", maxHolding)
	}
	l.Holding = make([]gateway.AttemptID, len(b.Holding))
	for i, text := range b.Holding {
		if l.Holding[i], err = readAttemptID(text, fmt.Sprintf("body.holding[%d]", i)); err != nil {
			return l, err
		}
	}
	return l, nil
}

func checkListener(id string) error {
	if !gateway.IsListenerID(id) {
		return problem.At("body.listener", "want 16 to 64 letters, digits, hyphens and underscores")
	}
	return nil
}

func readAttemptID(text, at string) (gateway.AttemptID, error) {
	id, err := gateway.ParseID[gateway.AttemptID](text)
	if err == nil {
		_, _, err = gateway.SplitAttemptID(id)
	}
	if err != nil {
		return id, problem.At(at, "want the id of an attempt")
	}
	return id, nil
}

func viewOrders(orders []deliver.Order) ordersView {
	view := ordersView{Orders: make([]orderView, len(orders))}
	for i, o := range orders {
		view.Orders[i] = orderView{
			ID: o.ID, DeliveryID: o.Delivery, EventID: o.Event, EventType: o.EventType, Number: o.N,
			Headers: map[string]string{}, Body: o.Body, Timeout: gateway.DurationText(o.Timeout),
		}
		for name := range o.Header {
			view.Orders[i].Headers[name] = o.Header.Get(name)
		}
	}
	return view
}

// reportsBody tells how orders went.
type reportsBody struct {
	Listener string       `json:"listener" minLength:"16" maxLength:"64" pattern:"^[A-Za-z0-9_-]{16,64}$" example:"kq3v9c8x7k2q5n4t6w8y0za1" doc:"Whose orders these were."`
	Reports  []reportBody `json:"reports" nullable:"false" maxItems:"32"`
}

// reportBody tells how one order went: what was answered, or why nothing was.
type reportBody struct {
	ID         string            `json:"id" example:"att_06h1m3v9c8x7k2q5n4t6w8y0za" doc:"The order's."`
	StatusCode int               `json:"status_code,omitempty" minimum:"100" maximum:"599" example:"200" doc:"The answer's status; a 2xx confirms the delivery."`
	ErrorKind  string            `json:"error_kind,omitempty" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol" doc:"Why no answer came, where none did."`
	Detail     string            `json:"detail,omitempty" doc:"What went wrong, in words."`
	Headers    map[string]string `json:"headers,omitempty" doc:"The answer's, at most 64 KiB."`
	Body       string            `json:"body,omitempty" contentEncoding:"base64" doc:"The first 16 KiB of the answer, in base64."`
	DurationMS float64           `json:"duration_ms,omitempty" example:"12.5" doc:"How long all of it took."`
	Timing     reportTimingBody  `json:"timing,omitzero" doc:"How long its parts took."`
}

type reportTimingBody struct {
	DNSMS       float64 `json:"dns_ms,omitempty"`
	ConnectMS   float64 `json:"connect_ms,omitempty"`
	TLSMS       float64 `json:"tls_ms,omitempty"`
	FirstByteMS float64 `json:"first_byte_ms,omitempty"`
}

type reportedView struct {
	Recorded []gateway.AttemptID `json:"recorded" nullable:"false" doc:"The orders of which it is known now how they went. What is not among them was given up before, and its delivery comes again."`
}

func (a *API) reportListener(ctx context.Context, who caller, in *endpointPath, body reportsBody) (*objectReply[reportedView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if err := checkListener(body.Listener); err != nil {
		return nil, err
	}
	if len(body.Reports) > deliver.MaxReports {
		return nil, problem.At("body.reports", "want at most %d", deliver.MaxReports)
	}
	reports := make([]deliver.Report, len(body.Reports))
	for i := range body.Reports {
		if reports[i], err = body.Reports[i].report(fmt.Sprintf("body.reports[%d]", i)); err != nil {
			return nil, err
		}
	}
	known, err := a.Deliver.Report(ctx, who.account(), id, body.Listener, reports)
	if err != nil {
		return nil, err
	}
	view := reportedView{Recorded: []gateway.AttemptID{}}
	for i := range reports {
		if known[reports[i].ID] {
			view.Recorded = append(view.Recorded, reports[i].ID)
		}
	}
	return &objectReply[reportedView]{view}, nil
}

func (b *reportBody) report(at string) (r deliver.Report, err error) {
	if r.ID, err = readAttemptID(b.ID, at+".id"); err != nil {
		return r, err
	}
	if r.Body, err = base64.StdEncoding.DecodeString(b.Body); err != nil {
		return r, problem.At(at+".body", "want base64")
	}
	r.Status, r.Kind, r.Detail = b.StatusCode, gateway.ErrorKind(b.ErrorKind), b.Detail
	r.Header = http.Header{}
	for name, value := range b.Headers {
		r.Header.Set(name, value)
	}
	r.Duration = told(b.DurationMS)
	r.Timing = gateway.Timing{
		DNS: told(b.Timing.DNSMS), Connect: told(b.Timing.ConnectMS), TLS: told(b.Timing.TLSMS), FirstByte: told(b.Timing.FirstByteMS),
	}
	return r, nil
}

// told is a time that was told in milliseconds, within reason.
func told(ms float64) time.Duration {
	return time.Duration(min(max(ms, 0), float64(longestReport.Milliseconds())) * float64(time.Millisecond))
}

// leaveInput names who goes.
type leaveInput struct {
	ID       string `path:"id" doc:"The endpoint's id or uid."`
	Listener string `query:"listener" required:"true" doc:"The name that the listener gave itself."`
}

func (a *API) leaveListener(ctx context.Context, who caller, in *leaveInput) (*empty, error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if !gateway.IsListenerID(in.Listener) {
		return nil, problem.At("query.listener", "want the name that the listener gave itself")
	}
	return &empty{}, a.Deliver.StopListening(ctx, who.account(), id, in.Listener)
}

// addListenerRoutes adds what a program calls that makes an endpoint's attempts.
func (a *API) addListenerRoutes() {
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/listener/poll", needs: gateway.PermReveal, status: 200, required: []string{"listener"}, deadline: pollDeadline,
		id: "pollListener", tag: tagEndpoints, summary: "Ask for what an endpoint gets",
		about: "For endpoints of the kind listen; `rowlock listen` does it for you. Answers as soon as there is something to send, and with nothing after 20 seconds. " +
			"The caller makes each attempt in Rowlock’s place and reports how it went. One listens at a time: while it asks at least every 15 seconds another is answered 409 `listener_connected`.",
	}, a.pollListener)
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/listener/report", needs: gateway.PermOperate, status: 200, required: []string{"listener", "reports"}, maxBody: maxReportBytes,
		id: "reportListener", tag: tagEndpoints, summary: "Report how attempts went",
		about: "A report is kept before it is answered. One that is repeated changes nothing.",
	}, a.reportListener)
	register(a, route{
		method: remove, path: "/endpoints/{id}/listener", needs: gateway.PermOperate, status: 204,
		id: "leaveListener", tag: tagEndpoints, summary: "Stop listening",
		about: "What the listener was given and did not report goes to the next one.",
	}, a.leaveListener)
}
