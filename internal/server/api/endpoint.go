package api

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/resource"
)

const endpointList = "endpoints"

// EndpointView is where events go to.
type EndpointView struct {
	ID                  gateway.EndpointID       `json:"id" example:"ep_06h1m3v9c8x7k2q5n4t6w8y0za"`
	UID                 *string                  `json:"uid,omitempty" doc:"Your own name for it; it can stand for the id in every path."`
	Kind                gateway.EndpointKind     `json:"kind" enum:"http,listen" doc:"Sent to at its URL, or listened for by a program."`
	URL                 string                   `json:"url,omitempty" example:"https://example.com/hooks"`
	Description         string                   `json:"description"`
	EventTypes          []string                 `json:"event_types" nullable:"false" doc:"What it asks for; none asks for everything but rowlock.*."`
	Headers             map[string]string        `json:"headers" doc:"Its own headers. Their values are shown to keys with the scope manage."`
	RetrySchedule       *[]string                `json:"retry_schedule,omitempty" nullable:"false" doc:"The waits between attempts; left out: the server's."`
	Timeout             *string                  `json:"timeout,omitempty" doc:"How long one attempt may take; left out: the server's."`
	MaxInFlight         int                      `json:"max_in_flight" doc:"How many sends may be under way at once."`
	StopOn              []int                    `json:"stop_on" nullable:"false" doc:"Status codes that end the retries."`
	Filter              string                   `json:"filter,omitempty" doc:"What an event must meet besides its type."`
	RateLimit           *resource.RateLimitBody  `json:"rate_limit,omitempty" doc:"How many sends may begin within a second; left out: no limit."`
	Failover            *gateway.EndpointID      `json:"failover,omitempty" doc:"Who gets what this one could not be given."`
	Signature           gateway.SignatureVersion `json:"signature" enum:"v1,v1a" doc:"How new secrets sign: with HMAC-SHA256, or with Ed25519."`
	PublicKeys          []string                 `json:"public_keys,omitempty" nullable:"false" doc:"What verifies signatures v1a, newest first: those of all live keys. Left out where none signs so." example:"[\"whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=\"]"`
	Auth                *AuthView                `json:"auth,omitempty" doc:"What is sent in the Authorization header, without its words."`
	Listener            *ListenerView            `json:"listener,omitempty" doc:"Who listens for one of the kind listen, or did last; left out: nobody ever did."`
	State               gateway.EndpointState    `json:"state" enum:"active,paused,disabled" doc:"Paused by a person, or disabled by Rowlock."`
	DisabledReason      string                   `json:"disabled_reason,omitempty" doc:"Why Rowlock disabled it."`
	StateChangedAt      timestamp                `json:"state_changed_at"`
	ConsecutiveFailures int                      `json:"consecutive_failures" doc:"Counted failures in a row: at most one a second counts."`
	CreatedAt           timestamp                `json:"created_at"`
	UpdatedAt           timestamp                `json:"updated_at"`
}

// createdEndpointView is a new endpoint, with its secret.
type createdEndpointView struct {
	EndpointView

	Secret string `json:"secret,omitempty" doc:"Verifies what the endpoint receives; of v1a, public_keys do." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
}

// endpointViewer shows endpoints as the caller may see them: headers of one's
// own often carry a password.
func endpointViewer(who caller) func(gateway.Endpoint) EndpointView {
	secrets := who.may(gateway.PermReveal)
	return func(e gateway.Endpoint) EndpointView {
		return EndpointView{
			ID: e.ID, UID: e.UID, Kind: e.Kind, URL: e.URL, Description: e.Description,
			EventTypes: notNil(e.EventTypes), Headers: ownHeaders(e.Headers, secrets),
			RetrySchedule: durationTexts(e.RetrySchedule), Timeout: optionalDurationText(e.Timeout),
			MaxInFlight: e.MaxInFlight, StopOn: notNil(e.StopOn),
			Filter: e.Filter, RateLimit: resource.RateLimit(e.RatePerSecond), Failover: e.Failover,
			Signature: e.Signature, Auth: viewAuth(e.Auth),
			State: e.State, DisabledReason: e.DisabledReason, StateChangedAt: timestamp(e.StateChangedAt),
			ConsecutiveFailures: e.ConsecutiveFailures,
			CreatedAt:           timestamp(e.CreatedAt), UpdatedAt: timestamp(e.UpdatedAt),
		}
	}
}

func ownHeaders(wire []byte, secrets bool) map[string]string {
	view := map[string]string{}
	for name, values := range gateway.DecodeHeaders(wire) {
		view[name] = gateway.Redacted
		if secrets && len(values) > 0 {
			view[name] = values[0]
		}
	}
	return view
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// endpointPath is the path of an operation on one endpoint.
type endpointPath struct {
	ID string `path:"id" doc:"The endpoint's id or uid."`
}

func (a *API) listEndpoints(ctx context.Context, who caller, in *PageQuery) (*listReply[EndpointView], error) {
	p, err := page[gateway.EndpointID](endpointList, *in, TimeQuery{})
	if err != nil {
		return nil, err
	}
	endpoints, err := a.Store.Endpoints(ctx, who.account(), p)
	if err != nil {
		return nil, err
	}
	position := func(e gateway.Endpoint) []byte { return idCursor(e.ID) }
	shown := reply(endpointList, *in, endpoints, position, endpointViewer(who))
	return shown, a.addBeside(ctx, who, shown.Body.Data)
}

// addBeside adds to endpoints what stands beside them.
func (a *API) addBeside(ctx context.Context, who caller, shown []EndpointView) error {
	return errors.Join(a.addPublicKeys(ctx, who, shown), a.addListeners(ctx, who, shown))
}

// addPublicKeys adds to endpoints what verifies their signatures where that is
// no secret.
func (a *API) addPublicKeys(ctx context.Context, who caller, shown []EndpointView) error {
	ids := make([]gateway.EndpointID, len(shown))
	for i := range shown {
		ids[i] = shown[i].ID
	}
	keys, err := a.Store.EndpointPublicKeys(ctx, who.account(), ids)
	for i := range shown {
		shown[i].PublicKeys = keys[shown[i].ID]
	}
	return err
}

func (a *API) createEndpoint(ctx context.Context, who caller, _ *nothing, body newEndpointBody) (*objectReply[createdEndpointView], error) {
	input, err := a.endpointInput(ctx, who, body.EndpointBody, body.input)
	if err != nil {
		return nil, err
	}
	created, secret, err := a.Endpoints.Create(ctx, who.account(), who.actor(), input)
	if err != nil {
		return nil, err
	}
	view := createdEndpointView{endpointViewer(who)(created), secret.Value}
	if secret.Public != "" {
		view.PublicKeys = []string{secret.Public}
	}
	return &objectReply[createdEndpointView]{view}, nil
}

func (a *API) getEndpoint(ctx context.Context, who caller, in *endpointPath) (*objectReply[EndpointView], error) {
	return a.onEndpoint(ctx, who, in, func(id gateway.EndpointID) (gateway.Endpoint, error) {
		return a.Store.Endpoint(ctx, who.account(), id)
	})
}

func (a *API) updateEndpoint(ctx context.Context, who caller, in *endpointPath, body changeEndpointBody) (*objectReply[EndpointView], error) {
	return a.onEndpoint(ctx, who, in, func(id gateway.EndpointID) (gateway.Endpoint, error) {
		input, err := a.endpointInput(ctx, who, body.EndpointBody, body.input)
		if err != nil {
			return gateway.Endpoint{}, err
		}
		return a.Endpoints.Update(ctx, who.account(), who.actor(), id, input)
	})
}

func (a *API) deleteEndpoint(ctx context.Context, who caller, in *endpointPath) (*empty, error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.Endpoints.Delete(ctx, who.account(), who.actor(), id)
}

func (a *API) pauseEndpoint(ctx context.Context, who caller, in *endpointPath, _ nothingBody) (*objectReply[EndpointView], error) {
	return a.onEndpoint(ctx, who, in, func(id gateway.EndpointID) (gateway.Endpoint, error) {
		return a.Endpoints.Pause(ctx, who.account(), who.actor(), id)
	})
}

func (a *API) resumeEndpoint(ctx context.Context, who caller, in *endpointPath, _ nothingBody) (*objectReply[EndpointView], error) {
	return a.onEndpoint(ctx, who, in, func(id gateway.EndpointID) (gateway.Endpoint, error) {
		return a.Endpoints.Resume(ctx, who.account(), who.actor(), id)
	})
}

// onEndpoint finds out which endpoint a path means, acts, and answers with it.
func (a *API) onEndpoint(ctx context.Context, who caller, in *endpointPath, act func(gateway.EndpointID) (gateway.Endpoint, error)) (*objectReply[EndpointView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	e, err := act(id)
	if err != nil {
		return nil, err
	}
	shown := []EndpointView{endpointViewer(who)(e)}
	err = a.addBeside(ctx, who, shown)
	return &objectReply[EndpointView]{shown[0]}, err
}

// endpointInput is what the use case takes, with the failover endpoint looked
// up. One that is not there is said to be wrong in the body: the path is right.
func (a *API) endpointInput(ctx context.Context, who caller, body resource.EndpointBody, read func() (endpoint.Input, error)) (endpoint.Input, error) {
	in, err := read()
	if err != nil || !body.Failover.Given {
		return in, err
	}
	in.Failover = new(gateway.EndpointID)
	if body.Failover.Null {
		return in, nil
	}
	*in.Failover, err = a.endpointID(ctx, who, body.Failover.Value)
	if errors.Is(err, gateway.ErrNotFound) {
		err = gateway.Invalid("failover", "names no endpoint of this account")
	}
	return in, err
}
