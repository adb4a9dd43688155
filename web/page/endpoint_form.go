package page

import (
	"slices"
	"strconv"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// EndpointForm is the page on which an endpoint is made or changed. Its fields
// are texts, as they were entered; what is secret is never shown again.
type EndpointForm struct {
	layout.Frame

	// New tells that there is no endpoint yet.
	New bool
	// Name is what the endpoint is called, when there is one.
	Name string
	// Action is where the form is posted, Cancel where one gives up.
	Action, Cancel string
	// Kind is how it gets its deliveries: of a new one, as chosen.
	Kind                                                 string
	URL, Description, EventTypes, Timeout, RetrySchedule string
	MaxInFlight, RateLimit, StopOn, UID                  string
	// Filter is a CEL expression, TryFilter where the form is posted to try it,
	// and Tried what came of that; nil before.
	Filter, TryFilter string
	Tried             *FilterTrial
	// Failover is the id of the chosen endpoint, Others are those to choose from.
	Failover string
	Others   []component.Option
	// Signature is the chosen version.
	Signature string
	// Auth is the chosen kind, Username what goes with it, and StoredAuth the
	// kind whose words are kept unless new ones are entered.
	Auth, Username, StoredAuth string
	Headers                    []EndpointHeader
	// ServerTimeout and ServerSchedule are what holds where nothing is entered.
	ServerTimeout, ServerSchedule string
	// Local tells that the server may send to its own machine.
	Local  bool
	Errors Errors
}

// EndpointHeader is a header of the endpoint's own, in the making.
type EndpointHeader struct {
	Name, Value string
}

// The fields of the form, by their names.
const (
	EndpointKindField     = "kind"
	EndpointURL           = "url"
	EndpointDescription   = "description"
	EndpointEventTypes    = "event_types"
	EndpointFilter        = "filter"
	EndpointHeaderName    = "header_name"
	EndpointHeaderValue   = "header_value"
	EndpointTimeout       = "timeout"
	EndpointRetrySchedule = "retry_schedule"
	EndpointMaxInFlight   = "max_in_flight"
	EndpointRateLimit     = "rate_limit"
	EndpointStopOn        = "stop_on"
	EndpointFailover      = "failover"
	EndpointSignature     = "signature"
	EndpointAuth          = "auth"
	EndpointAuthUsername  = "auth_username"
	EndpointAuthPassword  = "auth_password"
	EndpointAuthToken     = "auth_token"
	EndpointUID           = "uid"
	EndpointSecretField   = "secret"
	// EndpointHeaders is what is wrong with all headers together.
	EndpointHeaders = "headers"
)

// EndpointNoAuth is chosen where nothing is sent in Authorization.
const EndpointNoAuth = "none"

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

// RotateQuestion asks how to change the signing secret. What was entered is how
// long the present one goes on signing.
type RotateQuestion struct {
	EndpointQuestion

	// Older are how long the secrets before it still sign, in words.
	Older []string
	// KeyPair tells that it is an Ed25519 key, and no shared secret.
	KeyPair bool
}

// example is what a secret of one's own looks like, and form says it in words.
func (q RotateQuestion) example() string {
	if q.KeyPair {
		return "whsk_…"
	}
	return "whsec_…"
}

func (q RotateQuestion) form() string {
	if q.KeyPair {
		return "whsk_ and the base64 of an Ed25519 private key. Empty: Rowlock makes one."
	}
	return "whsec_ and the base64 of 24 to 64 bytes. Empty: Rowlock makes one."
}

// ExtendSecretQuestion asks for how long a secret goes on signing. What was
// entered is how long.
type ExtendSecretQuestion struct {
	EndpointQuestion

	// Left is how long it still signs, in words.
	Left string
}

// EndSecretQuestion asks before a secret ends.
type EndSecretQuestion struct {
	EndpointQuestion

	// Left is how long it would still sign, in words; empty when it has no end.
	Left string
}
