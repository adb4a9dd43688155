package endpoint

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Input is what a caller chooses for an endpoint. A field that is nil was not
// given: a new endpoint gets the default, a changed one keeps what it has.
type Input struct {
	// Kind is for Create alone; nil is gateway.EndpointHTTP. One to listen for has
	// no URL, all others have one.
	Kind *gateway.EndpointKind
	URL  *string
	// UID is the caller's own name; an empty one takes the name away.
	UID         *string
	Description *string
	// EventTypes are patterns; none at all asks for everything.
	EventTypes *[]string
	Headers    *map[string]string
	// RetrySchedule are the waits between attempts. An empty slice is one
	// attempt; a nil slice goes back to the server's schedule.
	RetrySchedule *[]time.Duration
	// Timeout bounds one attempt; zero goes back to the server's.
	Timeout     *time.Duration
	MaxInFlight *int
	StopOn      *[]int
	// Filter is a CEL expression; an empty one lets every event through.
	Filter *string
	// RatePerSecond bounds how many sends begin within a second; zero is no
	// bound.
	RatePerSecond *int
	// Failover is who gets what this one could not be given; zero is nobody.
	Failover *gateway.EndpointID
	// Signature is how its secrets sign. A change of it makes a new secret, as
	// Rotate does.
	Signature *gateway.SignatureVersion
	// Auth is what it asks for at its door; the zero value is nothing.
	Auth *Auth
	// Secret is the first signing secret, for Create alone.
	Secret *string
	// Paused is for Create alone: it is sent nothing before it is resumed.
	Paused bool
}

const (
	// maxDescription is in characters: a few paragraphs.
	maxDescription = 2000
	// maxEventTypes is far above what anybody lists by hand, and keeps rows
	// small that every fan-out reads.
	maxEventTypes = 500
)

// applyTo writes what is given to an endpoint. All that is wrong is told at
// once: gateway.InvalidErrors, joined.
func (in Input) applyTo(e *gateway.Endpoint, checkURL func(string) error) error {
	return errors.Join(
		in.applyURL(e, checkURL),
		in.applyUID(e),
		set(&e.Description, in.Description, checkDescription),
		in.applyTypes(e),
		in.applyHeaders(e),
		set(&e.RetrySchedule, in.RetrySchedule, checkSchedule),
		set(&e.Timeout, in.Timeout, checkTimeout),
		set(&e.MaxInFlight, in.MaxInFlight, checkMaxInFlight),
		in.applyStopOn(e),
		in.applyFilter(e),
		set(&e.RatePerSecond, in.RatePerSecond, checkRate),
		in.applyFailover(e),
		set(&e.Signature, in.Signature, checkSignature),
		in.applyAuth(e),
		in.checkAuthorization(e),
	)
}

// given names the fields that are to be changed, for the audit log.
func (in Input) given() []string {
	var names []string
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"url", in.URL != nil},
		{"uid", in.UID != nil},
		{"description", in.Description != nil},
		{"event_types", in.EventTypes != nil},
		{"headers", in.Headers != nil},
		{"retry_schedule", in.RetrySchedule != nil},
		{"timeout", in.Timeout != nil},
		{"max_in_flight", in.MaxInFlight != nil},
		{"stop_on", in.StopOn != nil},
		{"filter", in.Filter != nil},
		{"rate_limit", in.RatePerSecond != nil},
		{"failover", in.Failover != nil},
		{"signature", in.Signature != nil},
		{"auth", in.Auth != nil},
	} {
		if f.is {
			names = append(names, f.name)
		}
	}
	return names
}

// refuseFixed keeps a change from replacing the secret without an overlap, and the
// kind at all.
func (in Input) refuseFixed() error {
	if in.Kind != nil {
		return gateway.Invalid("kind", "cannot be changed: make another endpoint")
	}
	if in.Secret != nil {
		return gateway.Invalid("secret", "is changed by rotating it")
	}
	return nil
}

// set gives a field its new value, if there is one and check accepts it.
func set[T any](field, value *T, check func(T) error) error {
	if value == nil {
		return nil
	}
	if err := check(*value); err != nil {
		return err
	}
	*field = *value
	return nil
}

// applyURL keeps what is listened for from having an address.
func (in Input) applyURL(e *gateway.Endpoint, checkURL func(string) error) error {
	if in.URL != nil && e.Kind == gateway.EndpointListen {
		return gateway.Invalid("url", "an endpoint of the kind listen has none: rowlock listen gets what it is sent")
	}
	return set(&e.URL, in.URL, func(raw string) error { return egress.Invalid("url", checkURL(raw)) })
}

func checkKind(kind gateway.EndpointKind) error {
	if kind != gateway.EndpointHTTP && kind != gateway.EndpointListen {
		return gateway.Invalid("kind", "want %s or %s", gateway.EndpointHTTP, gateway.EndpointListen)
	}
	return nil
}

func (in Input) applyUID(e *gateway.Endpoint) error {
	switch {
	case in.UID == nil:
		return nil
	case *in.UID == "":
		e.UID = nil
		return nil
	}
	if err := gateway.CheckUID(*in.UID); err != nil {
		return err
	}
	uid := *in.UID
	e.UID = &uid
	return nil
}

func checkDescription(text string) error {
	isControl := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }
	if utf8.RuneCountInString(text) > maxDescription || !utf8.ValidString(text) || strings.ContainsFunc(text, isControl) {
		return gateway.Invalid("description", "want at most %d characters of text", maxDescription)
	}
	return nil
}

func (in Input) applyTypes(e *gateway.Endpoint) error {
	if in.EventTypes == nil {
		return nil
	}
	if len(*in.EventTypes) > maxEventTypes {
		return gateway.Invalid("event_types", "want at most %d", maxEventTypes)
	}
	types := make([]string, 0, len(*in.EventTypes))
	for _, pattern := range *in.EventTypes {
		if err := gateway.CheckTypePattern(pattern); err != nil {
			return err
		}
		if !slices.Contains(types, pattern) {
			types = append(types, pattern)
		}
	}
	e.EventTypes = types
	return nil
}

// checkSchedule asks for whole milliseconds, which is what is stored.
func checkSchedule(waits []time.Duration) error {
	if len(waits) > gateway.MaxScheduleLength {
		return gateway.Invalid("retry_schedule", "want at most %d waits", gateway.MaxScheduleLength)
	}
	for _, wait := range waits {
		if wait < time.Millisecond || wait > gateway.MaxScheduleWait || wait%time.Millisecond != 0 {
			return gateway.Invalid("retry_schedule", "want waits from 1ms to %s in whole milliseconds", gateway.MaxScheduleWait)
		}
	}
	return nil
}

func checkTimeout(timeout time.Duration) error {
	inRange := timeout >= gateway.MinTimeout && timeout <= gateway.MaxTimeout && timeout%time.Millisecond == 0
	if timeout != 0 && !inRange {
		return gateway.Invalid("timeout", "want %s to %s in whole milliseconds", gateway.MinTimeout, gateway.MaxTimeout)
	}
	return nil
}

func checkMaxInFlight(n int) error {
	if n < 1 || n > gateway.MaxMaxInFlight {
		return gateway.Invalid("max_in_flight", "want 1 to %d", gateway.MaxMaxInFlight)
	}
	return nil
}

// applyStopOn keeps the codes in order, each once. A 2xx is a success and
// stops nothing; a 1xx is no answer.
func (in Input) applyStopOn(e *gateway.Endpoint) error {
	if in.StopOn == nil {
		return nil
	}
	codes := slices.Clone(*in.StopOn)
	slices.Sort(codes)
	codes = slices.Compact(codes)
	if len(codes) > 0 && (codes[0] < http.StatusMultipleChoices || codes[len(codes)-1] > 599) {
		return gateway.Invalid("stop_on", "want status codes from 300 to 599")
	}
	e.StopOn = codes
	return nil
}

func checkRate(perSecond int) error {
	if perSecond < 0 || perSecond > gateway.MaxRatePerSecond {
		return gateway.Invalid("rate_limit.per_second", "want 1 to %d", gateway.MaxRatePerSecond)
	}
	return nil
}

func checkSignature(version gateway.SignatureVersion) error {
	if version != gateway.SignatureHMAC && version != gateway.SignatureEd25519 {
		return gateway.Invalid("signature", "want %s or %s", gateway.SignatureHMAC, gateway.SignatureEd25519)
	}
	return nil
}

// applyFailover leaves to the database what depends on other endpoints.
func (in Input) applyFailover(e *gateway.Endpoint) error {
	switch {
	case in.Failover == nil:
		return nil
	case in.Failover.IsZero():
		e.Failover = nil
		return nil
	case *in.Failover == e.ID:
		return gateway.Invalid("failover", "an endpoint cannot fail over to itself")
	}
	other := *in.Failover
	e.Failover = &other
	return nil
}
