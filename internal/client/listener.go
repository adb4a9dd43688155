package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

const (
	// pollTimeout bounds one asking of a listener: what is answered may be long.
	pollTimeout = 90 * time.Second
	// pollSilence is how long the answer may take to begin: the server has one within
	// 20 s. A line that is silent for longer is dead, as after a laptop slept.
	pollSilence = 35 * time.Second
	// maxOrders bounds, in bytes, an answer with orders: bodies of 4 MiB together,
	// or one that is longer, in base64.
	maxOrders = 64 << 20
)

// NewListenEndpoint describes an endpoint that is listened for.
type NewListenEndpoint struct {
	UID         string   `json:"uid"`
	Description string   `json:"description,omitempty"`
	EventTypes  []string `json:"event_types,omitempty"`
}

// Endpoint is where events go to.
type Endpoint struct {
	ID  string `json:"id"`
	UID string `json:"uid"`
	// Kind is KindListen where it has no address; it never changes.
	Kind string `json:"kind"`
	// Secret verifies what it receives; only of one that was just made.
	Secret string `json:"secret"`
}

// KindListen is the kind of endpoints that are listened for.
const KindListen = "listen"

// Endpoint reads an endpoint, by its id or uid.
func (c *Client) Endpoint(ctx context.Context, endpoint string) (e Endpoint, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err = c.exchange(ctx, http.MethodGet, endpointsPath+"/"+url.PathEscape(endpoint), nil, &e)
	return e, err
}

// CreateListenEndpoint makes an endpoint that is listened for. A *Problem of the
// code uid_taken tells that there is one of this uid.
func (c *Client) CreateListenEndpoint(ctx context.Context, e NewListenEndpoint) (made Endpoint, err error) {
	err = c.exchange(ctx, http.MethodPost, endpointsPath, struct {
		Kind string `json:"kind"`
		NewListenEndpoint
	}{KindListen, e}, &made)
	return made, err
}

// SetEventTypes changes what an endpoint asks for.
func (c *Client) SetEventTypes(ctx context.Context, endpoint string, types []string) error {
	return c.exchange(ctx, http.MethodPatch, endpointsPath+"/"+url.PathEscape(endpoint), map[string][]string{"event_types": types}, nil)
}

const endpointsPath = apiPath + "/endpoints"

func listenerPath(endpoint string) string {
	return endpointsPath + "/" + url.PathEscape(endpoint) + "/listener"
}

// Asking is a listener's asking for what it is to send.
type Asking struct {
	// Listener is its own name for this run of it, Host the machine it runs on.
	Listener string `json:"listener"`
	Host     string `json:"host,omitempty"`
	// Holding are the orders that it has and whose reports have not arrived.
	Holding []string `json:"holding,omitempty"`
}

// Order is an attempt for a listener to make.
type Order struct {
	ID         string            `json:"id"`
	DeliveryID string            `json:"delivery_id"`
	EventID    string            `json:"event_id"`
	EventType  string            `json:"event_type"`
	Number     int               `json:"number"`
	Headers    map[string]string `json:"headers"`
	Body       []byte            `json:"body"`
	Timeout    Span              `json:"timeout"`
}

// Span is a time as the API writes it, for example 10s.
type Span time.Duration

// UnmarshalText reads it.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = Span(d)
	return err //nolint:wrapcheck // the caller says that the answer cannot be read
}

// Poll asks for what an endpoint gets, and returns once there is something, or
// with nothing after a while.
func (c *Client) Poll(ctx context.Context, endpoint string, a Asking) ([]Order, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	timer := time.AfterFunc(c.silence, func() { giveUp(errSilent) })
	defer timer.Stop()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { timer.Stop() }})
	var answer struct {
		Orders []Order `json:"orders"`
	}
	err := c.exchange(ctx, http.MethodPost, listenerPath(endpoint)+"/poll", a, &answer)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		c.http.CloseIdleConnections() // so that the next call does not go the same way
		err = &CallError{Server: c.server.String(), Cause: errSilent}
	}
	return answer.Orders, err
}

// errSilent is the cause when a line has died without a word.
var errSilent = errors.New("no answer came")

// Report is how an order went: what was answered, or why nothing was.
type Report struct {
	ID         string            `json:"id"`
	StatusCode int               `json:"status_code,omitempty"`
	ErrorKind  string            `json:"error_kind,omitempty"`
	Detail     string            `json:"detail,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Body       []byte            `json:"body,omitempty"`
	DurationMS float64           `json:"duration_ms"`
	Timing     ReportTiming      `json:"timing"`
}

// ReportTiming is how long the parts of a request took, in milliseconds.
type ReportTiming struct {
	DNS       float64 `json:"dns_ms,omitempty"`
	Connect   float64 `json:"connect_ms,omitempty"`
	TLS       float64 `json:"tls_ms,omitempty"`
	FirstByte float64 `json:"first_byte_ms,omitempty"`
}

// MaxReports is how many reports one call may hold.
const MaxReports = 32

// Report tells how orders went, and returns the ids of those of which the server
// knows now. The others were given up before.
func (c *Client) Report(ctx context.Context, endpoint, listener string, reports []Report) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var answer struct {
		Recorded []string `json:"recorded"`
	}
	err := c.exchange(ctx, http.MethodPost, listenerPath(endpoint)+"/report", struct {
		Listener string   `json:"listener"`
		Reports  []Report `json:"reports"`
	}{listener, reports}, &answer)
	return answer.Recorded, err
}

// Leave tells that a listener goes.
func (c *Client) Leave(ctx context.Context, endpoint, listener string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.exchange(ctx, http.MethodDelete, listenerPath(endpoint)+"?listener="+url.QueryEscape(listener), nil, nil)
}
