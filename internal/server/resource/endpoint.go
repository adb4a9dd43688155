package resource

import (
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// EndpointBody describes what can be changed of an endpoint. Null sets a field
// back to what it is when left out at the making.
type EndpointBody struct {
	URL           strictjson.Field[string]            `json:"url,omitzero" nullable:"false" example:"https://example.com/hooks" doc:"An http or https address without credentials. Plain http only into allowed networks. Every endpoint of the kind http has one."`
	UID           strictjson.Field[string]            `json:"uid,omitzero" nullable:"true" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$" example:"billing" doc:"Your own name for it."`
	Description   strictjson.Field[string]            `json:"description,omitzero" nullable:"true" maxLength:"2000" example:"Billing service"`
	EventTypes    strictjson.Field[[]string]          `json:"event_types,omitzero" nullable:"true" maxItems:"500" example:"[\"order.*\"]" doc:"Types, prefixes such as order.*, or *. Left out: everything but rowlock.*, which are Rowlock's own events and asked for by name."`
	Headers       strictjson.Field[map[string]string] `json:"headers,omitzero" nullable:"true" maxProperties:"32" doc:"Headers to send with every delivery, at most 32 and 8 KiB. Those that say what is delivered, or that HTTP needs for itself, are refused."`
	RetrySchedule strictjson.Field[[]string]          `json:"retry_schedule,omitzero" nullable:"true" maxItems:"50" example:"[\"5s\",\"5m\",\"1h\"]" doc:"Waits between attempts, each from 1ms to 168h; [] is one attempt. Left out: the server's."`
	Timeout       strictjson.Field[string]            `json:"timeout,omitzero" nullable:"true" example:"10s" doc:"How long one attempt may take, from 1s to 1m. Left out: the server's."`
	MaxInFlight   strictjson.Field[int]               `json:"max_in_flight,omitzero" nullable:"true" minimum:"1" maximum:"1000" example:"64" doc:"How many sends may be under way at once. Left out: 64."`
	StopOn        strictjson.Field[[]int]             `json:"stop_on,omitzero" nullable:"true" minimum:"300" maximum:"599" example:"[400,404]" doc:"Status codes that end the retries."`
	Filter        strictjson.Field[string]            `json:"filter,omitzero" nullable:"true" maxLength:"4096" example:"body.amount > 100" doc:"A CEL expression over body, headers, query, type, subject and source that an event must meet. Left out: every event of the types."`
	RateLimit     strictjson.Field[RateLimitBody]     `json:"rate_limit,omitzero" nullable:"true" doc:"How many sends may begin within a second. Left out: no limit."`
	Failover      strictjson.Field[string]            `json:"failover,omitzero" nullable:"true" example:"billing-standby" doc:"The id or uid of the endpoint that gets what this one could not be given. Left out: none."`
	Signature     strictjson.Field[string]            `json:"signature,omitzero" nullable:"true" enum:"v1,v1a" example:"v1" doc:"How deliveries are signed: v1 is HMAC-SHA256 with a secret that both sides have, v1a is Ed25519, for which you need the public key alone. Another one than the endpoint has makes a new secret, and those before it go on signing for 24h. Left out: v1."`
	Auth          strictjson.Field[AuthBody]          `json:"auth,omitzero" nullable:"true" doc:"What to send in the Authorization header. It is kept sealed and shown to nobody. Left out: nothing."`
}

// Input is what the use case takes. Null sets a field back to its default,
// which for a URL is none, and so is refused.
func (b EndpointBody) Input() (endpoint.Input, error) {
	in := endpoint.Input{
		URL:         given(b.URL, ""),
		UID:         given(b.UID, ""),
		Description: given(b.Description, ""),
		EventTypes:  given(b.EventTypes, []string{}),
		Headers:     given(b.Headers, map[string]string{}),
		MaxInFlight: given(b.MaxInFlight, gateway.DefaultMaxInFlight),
		StopOn:      given(b.StopOn, []int{}),
		Filter:      given(b.Filter, ""),
		Signature:   (*gateway.SignatureVersion)(given(b.Signature, string(gateway.SignatureHMAC))),
	}
	var err error
	if in.RatePerSecond, err = b.rateLimit(); err != nil {
		return in, err
	}
	if in.Auth, err = b.auth(); err != nil {
		return in, err
	}
	if err := CheckTypes(b.EventTypes.Value); err != nil {
		return endpoint.Input{}, err
	}
	if err := b.addTimes(&in); err != nil {
		return endpoint.Input{}, err
	}
	return in, nil
}

// CheckTypes tells which pattern is none.
func CheckTypes(patterns []string) error {
	for i, pattern := range patterns {
		place := func(field string) string { return fmt.Sprintf("body.%s[%d]", field, i) }
		if err := problem.Locate(gateway.CheckTypePattern(pattern), place); err != nil {
			return err
		}
	}
	return nil
}

var (
	// waitSpan bounds one wait of a retry schedule.
	waitSpan = Span{time.Millisecond, gateway.MaxScheduleWait}
	// timeoutSpan bounds one attempt.
	timeoutSpan = Span{gateway.MinTimeout, gateway.MaxTimeout}
)

func (b EndpointBody) addTimes(in *endpoint.Input) error {
	if b.RetrySchedule.Given {
		schedule, err := b.schedule()
		if err != nil {
			return err
		}
		in.RetrySchedule = &schedule
	}
	if b.Timeout.Given {
		timeout, err := b.timeout()
		if err != nil {
			return err
		}
		in.Timeout = &timeout
	}
	return nil
}

// schedule is nil for the server's.
func (b EndpointBody) schedule() ([]time.Duration, error) {
	if b.RetrySchedule.Null {
		return nil, nil
	}
	return waitSpan.ReadAll(b.RetrySchedule.Value, "body.retry_schedule")
}

// timeout is zero for the server's, which is why zero cannot be asked for.
func (b EndpointBody) timeout() (time.Duration, error) {
	if b.Timeout.Null {
		return 0, nil
	}
	return timeoutSpan.Read(b.Timeout.Value, "body.timeout")
}

// given is nil for a field that was left out, and the default for null.
func given[T any](f strictjson.Field[T], byDefault T) *T {
	switch {
	case !f.Given:
		return nil
	case f.Null:
		return &byDefault
	default:
		return &f.Value
	}
}
