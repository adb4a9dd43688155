package api

import (
	"context"
	"encoding/json"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/server/resource"
	"github.com/rowlock/rowlock/internal/source/settings"
)

const sourceList = "sources"

// sourceView is where events come from.
type sourceView struct {
	ID        gateway.SourceID    `json:"id" example:"src_06h1m3v9c8x7k2q5n4t6w8y0za"`
	UID       *string             `json:"uid,omitempty" doc:"Your own name for it; it can stand for the id in every path."`
	Name      string              `json:"name"`
	Kind      string              `json:"kind" example:"github" doc:"Who sends, or the way in which requests are signed. The source of kind api is built in."`
	Settings  json.RawMessage     `json:"settings" doc:"The kind's own settings."`
	State     gateway.SourceState `json:"state" enum:"active,paused" doc:"A paused source takes events and holds them."`
	IngestURL *string             `json:"ingest_url,omitempty" doc:"Where the provider sends to. Shown to keys with the scope manage."`
	// CaptureUntil is left out where none is taken.
	CaptureUntil *timestamp `json:"capture_until,omitempty" doc:"Until when the next secret that the provider sends is taken."`
	// Rule is left out where there is none.
	Rule      *ruleView `json:"rule,omitempty" doc:"What its events mean. Left out: its kind alone says what they are."`
	CreatedAt timestamp `json:"created_at"`
	UpdatedAt timestamp `json:"updated_at"`
}

// sourceViewer shows sources as the caller may see them: an ingest address is
// a secret where nothing is signed.
func (a *API) sourceViewer(who caller) func(gateway.Source) sourceView {
	secrets := who.may(gateway.PermReveal)
	return func(s gateway.Source) sourceView {
		v := sourceView{
			ID: s.ID, UID: s.UID, Name: s.Name, Kind: s.Kind, Settings: json.RawMessage("{}"), State: s.State,
			CaptureUntil: optionalTime(s.CaptureUntil), Rule: viewRule(s), CreatedAt: timestamp(s.CreatedAt), UpdatedAt: timestamp(s.UpdatedAt),
		}
		if json.Valid(s.Settings) {
			v.Settings = s.Settings
			if !secrets {
				v.Settings = settings.Redact(s.Kind, s.Settings)
			}
		}
		if secrets && s.Kind != gateway.SourceKindAPI {
			address := a.BaseURL + gateway.IngestPath + s.Token
			v.IngestURL = &address
		}
		return v
	}
}

// sourcePath is the path of an operation on one source.
type sourcePath struct {
	ID string `path:"id" doc:"The source's id or uid."`
}

// newSourceBody describes a source to make.
type newSourceBody struct {
	resource.SourceBody

	Kind   *string `json:"kind" nullable:"false" example:"github" doc:"Who sends, or the way in which requests are signed."`
	Secret *string `json:"secret,omitempty" nullable:"true" example:"0123456789abcdef" doc:"The provider's signing secret, where the kind has one. It is never shown again."`
}

// changeSourceBody describes a change of a source.
type changeSourceBody struct {
	resource.SourceBody

	// Kind and Secret are refused, with what to do instead. The document leaves
	// them out.
	Kind   *string `json:"kind,omitempty"`
	Secret *string `json:"secret,omitempty"`
}

func (a *API) listSources(ctx context.Context, who caller, in *PageQuery) (*listReply[sourceView], error) {
	p, err := page[gateway.SourceID](sourceList, *in, TimeQuery{})
	if err != nil {
		return nil, err
	}
	sources, err := a.Store.Sources(ctx, who.account(), p)
	if err != nil {
		return nil, err
	}
	position := func(s gateway.Source) []byte { return idCursor(s.ID) }
	return reply(sourceList, *in, sources, position, a.sourceViewer(who)), nil
}

func (a *API) createSource(ctx context.Context, who caller, _ *nothing, body newSourceBody) (*objectReply[sourceView], error) {
	in := body.Input()
	in.Kind, in.Secret = body.Kind, body.Secret
	created, err := a.Sources.Create(ctx, who.account(), who.actor(), in)
	return object(created, err, a.sourceViewer(who))
}

func (a *API) getSource(ctx context.Context, who caller, in *sourcePath) (*objectReply[sourceView], error) {
	return a.onSource(ctx, who, in, func(id gateway.SourceID) (gateway.Source, error) {
		return a.Store.Source(ctx, who.account(), id)
	})
}

func (a *API) updateSource(ctx context.Context, who caller, in *sourcePath, body changeSourceBody) (*objectReply[sourceView], error) {
	change := body.Input()
	change.Kind, change.Secret = body.Kind, body.Secret
	return a.onSource(ctx, who, in, func(id gateway.SourceID) (gateway.Source, error) {
		return a.Sources.Update(ctx, who.account(), who.actor(), id, change)
	})
}

func (a *API) deleteSource(ctx context.Context, who caller, in *sourcePath) (*empty, error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.Sources.Delete(ctx, who.account(), who.actor(), id)
}

func (a *API) pauseSource(ctx context.Context, who caller, in *sourcePath, _ nothingBody) (*objectReply[sourceView], error) {
	return a.onSource(ctx, who, in, func(id gateway.SourceID) (gateway.Source, error) {
		return a.Sources.Pause(ctx, who.account(), who.actor(), id)
	})
}

func (a *API) resumeSource(ctx context.Context, who caller, in *sourcePath, _ nothingBody) (*objectReply[sourceView], error) {
	return a.onSource(ctx, who, in, func(id gateway.SourceID) (gateway.Source, error) {
		return a.Sources.Resume(ctx, who.account(), who.actor(), id)
	})
}

// onSource finds out which source a path means, acts, and answers with it.
func (a *API) onSource(ctx context.Context, who caller, in *sourcePath, act func(gateway.SourceID) (gateway.Source, error)) (*objectReply[sourceView], error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := act(id)
	return object(s, err, a.sourceViewer(who))
}

// rotateSourceBody says how to change a source's secret.
type rotateSourceBody struct {
	Secret  *string `json:"secret" nullable:"false" example:"0123456789abcdef" doc:"The provider's new signing secret."`
	Overlap *string `json:"overlap,omitempty" nullable:"true" example:"24h" doc:"How long the present secrets go on verifying, from 0s to 720h. Left out: 24h."`
}

// sourceSecretView is a source's secret. Its text is the provider's and never
// shown, unless the provider sent it to us.
type sourceSecretView struct {
	ID        gateway.SecretID `json:"id" example:"sec_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Captured  bool             `json:"captured" doc:"The provider sent it to the source itself."`
	Secret    *string          `json:"secret,omitempty" doc:"Its text, where the provider sent it."`
	CreatedAt timestamp        `json:"created_at"`
	EndsAt    *timestamp       `json:"ends_at,omitempty"`
}

func (a *API) rotateSourceSecret(ctx context.Context, who caller, in *sourcePath, body rotateSourceBody) (*objectReply[sourceSecretView], error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if body.Secret == nil {
		return nil, problem.At("body.secret", "is required")
	}
	overlap, err := overlapSpan.ReadOptional(body.Overlap, "body.overlap")
	if err != nil {
		return nil, err
	}
	secret, err := a.Sources.Rotate(ctx, who.account(), who.actor(), id, *body.Secret, overlap)
	return object(secret, err, viewSourceSecret)
}
