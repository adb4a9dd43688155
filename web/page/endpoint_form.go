package page

import (
	"slices"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// EndpointForm is the page on which an endpoint is made or changed. Its fields
// are texts, as they were entered.
type EndpointForm struct {
	layout.Frame

	// New tells that there is no endpoint yet.
	New bool
	// Name is what the endpoint is called, when there is one.
	Name string
	// Action is where the form is posted, Cancel where one gives up.
	Action, Cancel                                       string
	URL, Description, EventTypes, Timeout, RetrySchedule string
	MaxInFlight, StopOn, UID                             string
	Headers                                              []EndpointHeader
	// ServerTimeout and ServerSchedule are what holds where nothing is entered.
	ServerTimeout, ServerSchedule string
	// Advanced opens what is closed at first: something in it is wrong.
	Advanced bool
	Errors   Errors
}

// EndpointHeader is a header of the endpoint's own, in the making.
type EndpointHeader struct {
	Name, Value string
}

// The fields of the form, by their names.
const (
	EndpointURL           = "url"
	EndpointDescription   = "description"
	EndpointEventTypes    = "event_types"
	EndpointHeaderName    = "header_name"
	EndpointHeaderValue   = "header_value"
	EndpointTimeout       = "timeout"
	EndpointRetrySchedule = "retry_schedule"
	EndpointMaxInFlight   = "max_in_flight"
	EndpointStopOn        = "stop_on"
	EndpointUID           = "uid"
	EndpointSecretField   = "secret"
	// EndpointHeaders is what is wrong with all headers together.
	EndpointHeaders = "headers"
)

// EndpointHeaderRow is the name under which is told what is wrong with the nth
// header, from 0.
func EndpointHeaderRow(n int) string { return "header-" + strconv.Itoa(n+1) }

const (
	// moreHeaders is how many empty rows the form has for more headers, and
	// mostHeaders how many rows in all: what an endpoint may have.
	moreHeaders = 3
	mostHeaders = 32
)

// headerRows are the headers and some empty ones.
func (f EndpointForm) headerRows() []EndpointHeader {
	more := min(moreHeaders, max(mostHeaders-len(f.Headers), 0))
	return append(slices.Clip(f.Headers), make([]EndpointHeader, more)...)
}

func (f EndpointForm) submit() component.Button {
	b := component.Button{Label: "Save", Variant: component.Primary, Submit: true}
	if f.New {
		b.Label = "Add endpoint"
	}
	return b
}

// EndpointQuestion is what is asked before something is done to an endpoint.
type EndpointQuestion struct {
	// Name is what the endpoint is called.
	Name string
	// Action is where the answer is posted, Cancel the page to go back to.
	Action, Cancel string
	// Heading tells that the question is a page of its own.
	Heading bool
	// Entered is what was typed before, if that was not right.
	Entered string
	Errors  Errors
}

// TestQuestion asks what to send as a test.
type TestQuestion struct {
	EndpointQuestion

	// Types are those that the endpoint asks for by name, to choose from.
	Types []string
}

// PauseQuestion asks before an endpoint is paused.
type PauseQuestion struct {
	EndpointQuestion

	State gateway.EndpointState
}

// RotateQuestion asks how to change the signing secret. What was entered is how
// long the present one goes on signing.
type RotateQuestion struct {
	EndpointQuestion

	// Older are how long the secrets before it still sign, in words.
	Older []string
}

// EndSecretQuestion asks before a secret ends.
type EndSecretQuestion struct {
	EndpointQuestion

	// Left is how long it would still sign, in words; empty when it has no end.
	Left string
}
