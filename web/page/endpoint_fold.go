package page

import (
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// The parts of the form that are closed at first are open where something in
// them was chosen, or is wrong.

func (f EndpointForm) uidOpen() bool { return f.UID != "" || f.anyWrong(EndpointUID) }

func (f EndpointForm) filterOpen() bool {
	return f.Filter != "" || f.Tried != nil || f.anyWrong(EndpointFilter)
}

func (f EndpointForm) howOpen() bool {
	usual := f.MaxInFlight == "" || f.MaxInFlight == strconv.Itoa(gateway.DefaultMaxInFlight)
	return !usual || f.Timeout+f.RetrySchedule+f.RateLimit+f.StopOn != "" ||
		f.anyWrong(EndpointTimeout, EndpointMaxInFlight, EndpointRateLimit, EndpointRetrySchedule, EndpointStopOn)
}

func (f EndpointForm) signedOpen() bool {
	return f.signsWithKeys() || f.anyWrong(EndpointSignature, EndpointSecretField)
}

func (f EndpointForm) doorOpen() bool {
	if f.sendsAuth() || len(f.Headers) > 0 || f.anyWrong(EndpointAuth, EndpointAuthUsername, EndpointAuthPassword, EndpointAuthToken, EndpointHeaders) {
		return true
	}
	for field := range f.Errors {
		if strings.HasPrefix(field, "header-") {
			return true
		}
	}
	return false
}

func (f EndpointForm) failoverOpen() bool { return f.Failover != "" || f.anyWrong(EndpointFailover) }

// anyWrong tells that something is wrong in one of these fields.
func (f EndpointForm) anyWrong(fields ...string) bool {
	for _, field := range fields {
		if f.Errors[field] != "" {
			return true
		}
	}
	return false
}

// listens tells that it has no address.
func (f EndpointForm) listens() bool { return f.Kind == string(gateway.EndpointListen) }

func (f EndpointForm) kinds() []component.Option {
	return []component.Option{
		{Value: string(gateway.EndpointHTTP), Label: "A URL", Selected: !f.listens(), Hint: "Rowlock sends a POST there."},
		{Value: string(gateway.EndpointListen), Label: "A program that listens", Selected: f.listens(), Hint: "On your machine, without a public address."},
	}
}

func (f EndpointForm) signsWithKeys() bool {
	return f.Signature == string(gateway.SignatureEd25519)
}

func (f EndpointForm) sendsAuth() bool { return f.Auth != "" && f.Auth != EndpointNoAuth }

func (f EndpointForm) signatures() []component.Option {
	return []component.Option{
		{
			Value: string(gateway.SignatureHMAC), Label: "Shared secret", Selected: !f.signsWithKeys(),
			Hint: "v1, HMAC-SHA256. Every Standard Webhooks library verifies it.",
		},
		{
			Value: string(gateway.SignatureEd25519), Label: "Key pair", Selected: f.signsWithKeys(),
			Hint: "v1a, Ed25519. Your receiver needs the public key alone, which is no secret.",
		},
	}
}

func (f EndpointForm) signatureHint() string {
	const libraries = "The Standard Webhooks libraries for Go, Node and Python verify shared secrets only; for a key pair, the endpoint’s page shows code that does."
	if f.New {
		return libraries
	}
	return "Changing it makes a new secret. The present one signs beside it for 24 hours. " + libraries
}

func (f EndpointForm) auths() []component.Option {
	return []component.Option{
		{Value: EndpointNoAuth, Label: "Nothing", Selected: !f.sendsAuth()},
		{Value: string(gateway.AuthBasic), Label: "User name and password", Selected: f.Auth == string(gateway.AuthBasic), Hint: "Basic"},
		{Value: string(gateway.AuthBearer), Label: "Token", Selected: f.Auth == string(gateway.AuthBearer), Hint: "Bearer"},
	}
}

// keepHint says that words of this kind are kept where none are entered.
func (f EndpointForm) keepHint(kind gateway.AuthKind, otherwise string) string {
	if f.StoredAuth == string(kind) {
		return "Leave it empty to keep what is stored."
	}
	return otherwise
}

// failovers are who can take over: nobody, or another endpoint.
func (f EndpointForm) failovers() []component.Option {
	all := []component.Option{{Label: "Nobody", Selected: f.Failover == ""}}
	for _, o := range f.Others {
		o.Selected = o.Value == f.Failover
		all = append(all, o)
	}
	return all
}

// The receiver that one can try deliveries with, and where it can be reached.
const (
	tryReceiver    = "rowlock receiver --listen 127.0.0.1:9000"
	TryReceiverURL = "http://127.0.0.1:9000/"
)

// EndpointLabel is an endpoint's name with its address behind it, where that
// says more: two can have one name.
func EndpointLabel(url, description string) string {
	name, address := EndpointName(url, description), EndpointAddress(url)
	if name == component.Shorten(address, maxName) {
		return name
	}
	return name + " · " + component.Shorten(address, maxName)
}
