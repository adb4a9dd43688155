package api

import (
	"context"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// kindView is what there is to know about a kind of source.
type kindView struct {
	Kind     string            `json:"kind" example:"github"`
	Name     string            `json:"name" example:"GitHub"`
	Group    string            `json:"group" example:"Code and operations"`
	Summary  string            `json:"summary" doc:"How its requests are proven, in a few words."`
	Docs     *string           `json:"docs,omitempty" doc:"The provider's own page about its webhooks."`
	Secret   *kindSecretView   `json:"secret,omitempty" doc:"What proves requests; left out for a kind without."`
	Settings []kindSettingView `json:"settings" doc:"The kind's own settings, beside those of every kind: tolerance, public_url, rate_limit, allowed_ips and replay_guard."`
	Methods  []string          `json:"methods" doc:"The HTTP methods that are taken."`
	Batch    bool              `json:"batch" doc:"One request can bring several events."`
	Timed    bool              `json:"timed" doc:"A time is signed, or may be."`
	URL      bool              `json:"url_signed" doc:"The address is part of what is signed."`
	Protects string            `json:"protects" doc:"What a signature covers."`
	Key      kindKeyView       `json:"key" doc:"How repeats are known."`
	Answer   string            `json:"answer" doc:"What the provider expects as an answer."`
	Retries  string            `json:"retries,omitempty" doc:"What it does without one."`
	Notes    []string          `json:"notes" doc:"Oddities."`
	Steps    []string          `json:"steps" doc:"Where the ingest URL belongs."`
}

type kindSecretView struct {
	Name     string `json:"name"`
	From     string `json:"from" doc:"Where it is found."`
	Public   bool   `json:"public" doc:"It is a public key."`
	Captured bool   `json:"captured" doc:"The provider sends it to the ingest URL itself: leave it out."`
}

type kindSettingView struct {
	Name     string   `json:"name"`
	Label    string   `json:"label"`
	Hint     string   `json:"hint,omitempty"`
	Example  string   `json:"example,omitempty"`
	Choices  []string `json:"choices,omitempty" doc:"The values to choose from, the default first."`
	Many     bool     `json:"many" doc:"It is a list of choices."`
	Required bool     `json:"required"`
	Private  bool     `json:"private" doc:"Its value is shown to keys with the scope manage alone."`
}

type kindKeyView struct {
	From   string `json:"from"`
	Signed bool   `json:"signed" doc:"The signature covers it."`
	Scope  string `json:"scope,omitempty"`
}

// listSourceKinds lists all kinds; there is no second part.
func (a *API) listSourceKinds(context.Context, caller, *nothing) (*listReply[kindView], error) {
	return whole(signature.Kinds(), viewKind), nil
}

// viewKind shows one of signature.Kinds.
func viewKind(kind string) kindView {
	scheme, _ := signature.Lookup(kind)
	i := scheme.Info()
	v := kindView{
		Kind: i.Kind, Name: i.Name, Group: string(i.Group), Summary: i.Summary, Settings: make([]kindSettingView, 0, len(i.Settings)),
		Methods: slices.Concat([]string{"POST", "PUT", "PATCH"}, i.Methods), Batch: i.Batch, Timed: i.Timed, URL: i.URLSigned,
		Protects: i.Protects, Key: kindKeyView(i.Key), Answer: i.Answer, Retries: i.Retries, Notes: slices.Concat([]string{}, i.Notes), Steps: i.Steps,
	}
	if i.Docs != "" {
		v.Docs = &i.Docs
	}
	if i.Secret.Name != "" {
		v.Secret = &kindSecretView{Name: i.Secret.Name, From: i.Secret.From, Public: i.Secret.Public, Captured: i.Secret.Captured}
	}
	for _, s := range i.Settings {
		v.Settings = append(v.Settings, kindSettingView{s.Name, s.Label, s.Hint, s.Example, s.Choices, s.Many, s.Required, s.Private})
	}
	return v
}

// listSourceSecrets lists a source's live secrets, newest first.
func (a *API) listSourceSecrets(ctx context.Context, who caller, in *sourcePath) (*listReply[sourceSecretView], error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	secrets, err := a.Sources.Secrets(ctx, who.account(), who.actor(), id)
	if err != nil {
		return nil, err
	}
	return whole(secrets, viewSourceSecret), nil
}

func viewSourceSecret(s gateway.Secret) sourceSecretView {
	v := sourceSecretView{ID: s.ID, Captured: s.Captured, CreatedAt: timestamp(s.CreatedAt), EndsAt: optionalTime(s.EndsAt)}
	if s.Captured && s.Value != "" {
		v.Secret = &s.Value
	}
	return v
}

func (a *API) captureSourceSecret(ctx context.Context, who caller, in *sourcePath, _ nothingBody) (*objectReply[sourceView], error) {
	return a.onSource(ctx, who, in, func(id gateway.SourceID) (gateway.Source, error) {
		return a.Sources.Capture(ctx, who.account(), who.actor(), id)
	})
}
