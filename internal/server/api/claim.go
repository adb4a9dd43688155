package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/server/resource"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	claimList = "claims"
	// maxHolds is how many holders one claim is shown with, the newest.
	maxHolds = 100
)

var leaseSpan = resource.Span{Least: gateway.MinLease, Most: gateway.MaxLease}

// ClaimView is a key of the ledger.
type ClaimView struct {
	ID             gateway.ClaimID     `json:"id" example:"clm_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Scope          string              `json:"scope" example:"welcome-mails" doc:"What it is for; of a single-fire type the endpoint at the head of the failover chain."`
	Key            string              `json:"key" example:"cus_1001"`
	EventType      string              `json:"event_type,omitempty" doc:"Of a claim that deliveries of a single-fire type make."`
	Subject        string              `json:"subject,omitempty" doc:"The same."`
	State          gateway.ClaimState  `json:"state" enum:"in_progress,done,released" doc:"In progress: somebody holds it. Released: nobody does, and it was not done."`
	Holder         string              `json:"holder,omitempty" doc:"Who holds it or held it last, in its own words."`
	DeliveryID     *gateway.DeliveryID `json:"delivery_id,omitempty" doc:"The delivery that holds it or held it last."`
	Fence          int64               `json:"fence" example:"1" doc:"Grows with each holder. What a holder does to the claim carries it, and what it does elsewhere can."`
	OnDoubt        gateway.OnDoubt     `json:"on_doubt" enum:"resend,hold" doc:"What happens when a lease ends and the holder has not said how it went: somebody else may claim it, or it waits for a person."`
	ClaimedAt      timestamp           `json:"claimed_at"`
	LeaseExpiresAt timestamp           `json:"lease_expires_at" doc:"Until when it is held without a sign of life."`
	EndedAt        *timestamp          `json:"ended_at,omitempty" doc:"When it was completed, released, reclaimed or resolved."`
	Result         json.RawMessage     `json:"result,omitempty" doc:"What the holder kept with it when it was done: any JSON value."`
}

func viewClaim(c gateway.Claim) ClaimView {
	return ClaimView{
		ID: c.ID, Scope: c.Scope, Key: c.Key, EventType: c.EventType, Subject: c.Subject, State: c.State, Holder: c.Holder,
		DeliveryID: c.DeliveryID, Fence: c.Fence, OnDoubt: c.OnDoubt, ClaimedAt: timestamp(c.ClaimedAt),
		LeaseExpiresAt: timestamp(c.LeaseExpiresAt), EndedAt: optionalTime(c.EndedAt), Result: c.Result,
	}
}

// holdView is one holder's time with a claim.
type holdView struct {
	Fence          int64               `json:"fence"`
	Holder         string              `json:"holder,omitempty"`
	DeliveryID     *gateway.DeliveryID `json:"delivery_id,omitempty"`
	ClaimedAt      timestamp           `json:"claimed_at"`
	LeaseExpiresAt timestamp           `json:"lease_expires_at"`
	EndedAt        *timestamp          `json:"ended_at,omitempty"`
	Ended          gateway.HoldEnd     `json:"ended,omitempty" enum:"completed,released,reclaimed,resolved" doc:"How it ended; left out while it lasts, and where another followed when the lease had ended."`
	Actor          gateway.Actor       `json:"actor,omitempty" doc:"Who reclaimed or resolved it."`
	Reason         string              `json:"reason,omitempty" doc:"Why."`
}

func viewHold(h gateway.Hold) holdView {
	return holdView{
		Fence: h.Fence, Holder: h.Holder, DeliveryID: h.DeliveryID, ClaimedAt: timestamp(h.ClaimedAt),
		LeaseExpiresAt: timestamp(h.LeaseExpiresAt), EndedAt: optionalTime(h.EndedAt), Ended: h.Ended, Actor: h.Actor, Reason: h.Reason,
	}
}

// claimDetailView is a claim with those who held it.
type claimDetailView struct {
	ClaimView

	Holders []holdView `json:"holders" nullable:"false" doc:"Who held it, the newest first, up to 100."`
}

// claimBody asks for a key.
type claimBody struct {
	Scope  string `json:"scope" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$" example:"welcome-mails" doc:"What the key is for. Keys of different scopes do not meet."`
	Key    string `json:"key" minLength:"1" maxLength:"1024" example:"cus_1001" doc:"The thing that is to be done once, in 1 to 1,024 bytes."`
	Lease  string `json:"lease" example:"30s" doc:"How long you hold it without a sign of life: 1s to 24h. Longer than the work takes at its slowest."`
	Holder string `json:"holder,omitempty" nullable:"true" maxLength:"200" example:"mailer-7" doc:"Who you are, for people who look at the ledger."`
}

type claimInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"1024" doc:"New for each thing that you begin to do. Asking again with it, since the answer was lost, gets the same fence."`
}

type claimReply struct {
	Status int
	Body   ClaimView
}

func (a *API) claim(ctx context.Context, who caller, in *claimInput, body claimBody) (*claimReply, error) {
	lease, err := leaseSpan.Read(body.Lease, "body.lease")
	if err != nil {
		return nil, err
	}
	c, err := a.Claims.Claim(ctx, who.account(), claim.Input{
		Scope: body.Scope, Key: body.Key, Lease: lease, Holder: body.Holder, CallKey: in.IdempotencyKey,
	})
	if err != nil {
		return nil, problem.Locate(err, func(field string) string {
			if field == headerKey {
				return headerKeyPlace
			}
			return within("body", field)
		})
	}
	if c.State == gateway.ClaimDone {
		return &claimReply{http.StatusOK, viewClaim(c)}, nil
	}
	return &claimReply{http.StatusCreated, viewClaim(c)}, nil
}

// claimPath is the path of an operation on one claim.
type claimPath struct {
	ID string `path:"id" doc:"The claim's id."`
}

// FenceBody says which holder acts.
type FenceBody struct {
	Fence int64 `json:"fence" minimum:"1" example:"1" doc:"The one that you got with the claim."`
}

type completeBody struct {
	FenceBody

	Result json.RawMessage `json:"result,omitempty" doc:"Any JSON value, up to 64 KiB. Whoever claims the key again gets it."`
}

type extendBody struct {
	FenceBody

	Lease string `json:"lease" example:"30s" doc:"How long from now: 1s to 24h."`
}

type reclaimBody struct {
	Reason string `json:"reason" minLength:"1" maxLength:"1000" example:"The worker was killed before it sent." doc:"Why; it stands in the audit log and with the claim."`
	Fence  int64  `json:"fence,omitempty" minimum:"0" nullable:"true" doc:"The holder that you have seen. Without it, whoever holds it is freed of it."`
}

type resolveBody struct {
	FenceBody

	Reason string `json:"reason" minLength:"1" maxLength:"1000" example:"The partner confirmed it by phone." doc:"Why; it stands in the audit log and with the claim."`
}

func (a *API) completeClaim(ctx context.Context, who caller, in *claimPath, body completeBody) (*objectReply[ClaimView], error) {
	return onClaim(in, func(id gateway.ClaimID) (gateway.Claim, error) {
		return a.Claims.Complete(ctx, who.account(), id, body.Fence, body.Result)
	})
}

func (a *API) releaseClaim(ctx context.Context, who caller, in *claimPath, body FenceBody) (*objectReply[ClaimView], error) {
	return onClaim(in, func(id gateway.ClaimID) (gateway.Claim, error) {
		return a.Claims.Release(ctx, who.account(), id, body.Fence)
	})
}

func (a *API) extendClaim(ctx context.Context, who caller, in *claimPath, body extendBody) (*objectReply[ClaimView], error) {
	lease, err := leaseSpan.Read(body.Lease, "body.lease")
	if err != nil {
		return nil, err
	}
	return onClaim(in, func(id gateway.ClaimID) (gateway.Claim, error) {
		return a.Claims.Extend(ctx, who.account(), id, body.Fence, lease)
	})
}

func (a *API) reclaimClaim(ctx context.Context, who caller, in *claimPath, body reclaimBody) (*objectReply[ClaimView], error) {
	return onClaim(in, func(id gateway.ClaimID) (gateway.Claim, error) {
		return a.Claims.Reclaim(ctx, who.account(), who.actor(), id, body.Fence, body.Reason)
	})
}

func (a *API) resolveClaim(ctx context.Context, who caller, in *claimPath, body resolveBody) (*objectReply[ClaimView], error) {
	return onClaim(in, func(id gateway.ClaimID) (gateway.Claim, error) {
		return a.Claims.Resolve(ctx, who.account(), who.actor(), id, body.Fence, body.Reason)
	})
}

// onClaim finds out which claim a path means, acts, and answers with it.
func onClaim(in *claimPath, act func(gateway.ClaimID) (gateway.Claim, error)) (*objectReply[ClaimView], error) {
	id, err := pathID[gateway.ClaimID](in.ID)
	if err != nil {
		return nil, err
	}
	c, err := act(id)
	return object(c, err, viewClaim)
}

type listClaimsInput struct {
	PageQuery

	Scope   string `query:"scope" doc:"Claims under this scope."`
	State   string `query:"state" enum:"in_progress,done,released" doc:"Claims in this state."`
	Stuck   bool   `query:"stuck" doc:"Claims that somebody holds and whose lease has ended."`
	Key     string `query:"key" doc:"The claims of this key, in every scope."`
	Subject string `query:"subject" doc:"What endpoints were told about this subject, of single-fire types."`
}

func (in *listClaimsInput) filter() (store.ClaimFilter, error) {
	f := store.ClaimFilter{Scope: in.Scope, Key: in.Key, Subject: in.Subject, State: gateway.ClaimState(in.State), Stuck: in.Stuck}
	if f.Stuck && f.State != "" && f.State != gateway.ClaimInProgress {
		return f, problem.At("query.stuck", "those that are stuck are in progress")
	}
	return f, errors.Join(cleanText(in.Scope, "scope"), cleanText(in.Key, "key"), cleanText(in.Subject, "subject"))
}

func (a *API) listClaims(ctx context.Context, who caller, in *listClaimsInput) (*listReply[ClaimView], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	p, err := page[gateway.ClaimID](claimList, in.PageQuery, TimeQuery{})
	if err != nil {
		return nil, err
	}
	claims, err := a.Store.Claims(ctx, who.account(), f, p)
	if err != nil {
		return nil, err
	}
	position := func(c gateway.Claim) []byte { return idCursor(c.ID) }
	return reply(claimList, in.PageQuery, claims, position, viewClaim), nil
}

func (a *API) getClaim(ctx context.Context, who caller, in *claimPath) (*objectReply[claimDetailView], error) {
	id, err := pathID[gateway.ClaimID](in.ID)
	if err != nil {
		return nil, err
	}
	c, err := a.Store.Claim(ctx, who.account(), id)
	if err != nil {
		return nil, err
	}
	holds, err := a.Store.Holds(ctx, who.account(), id, maxHolds)
	if err != nil {
		return nil, err
	}
	v := claimDetailView{ClaimView: viewClaim(c), Holders: make([]holdView, len(holds))}
	for i, h := range holds {
		v.Holders[i] = viewHold(h)
	}
	return &objectReply[claimDetailView]{v}, nil
}
