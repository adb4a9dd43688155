package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/signature"
)

// trySourceBody says what to try at a source.
type trySourceBody struct {
	Body    *string           `json:"body,omitempty" nullable:"true" example:"{\"hello\":\"world\"}" doc:"The body to sign. Left out: a sample such as the provider sends, a new event each time."`
	Headers map[string]string `json:"headers,omitempty" nullable:"true" example:"{\"X-GitHub-Event\":\"push\"}" doc:"The headers beside the signature's own. Left out: the sample's."`
	Fault   *string           `json:"fault,omitempty" nullable:"true" enum:"none,wrong_secret,altered,old,unsigned" doc:"What to make wrong: sign with another secret, change a byte after signing, sign with a time that is too old, or do not sign. Left out: none."`
	DryRun  *bool             `json:"dry_run,omitempty" nullable:"true" doc:"Only verify, and store nothing. Left out: the request is taken in, and its events are delivered."`
}

// sourceTrialView is what came of it, step by step.
type sourceTrialView struct {
	DryRun    bool               `json:"dry_run"`
	Request   trialRequestView   `json:"request" doc:"What was made. Secrets in it are redacted."`
	Signature trialSignatureView `json:"signature" doc:"How it was signed."`
	Verdict   trialVerdictView   `json:"verdict" doc:"Whether it was taken, and why not."`
	Events    []trialEventView   `json:"events" doc:"The events of a request that was taken."`
	Answer    trialAnswerView    `json:"answer" doc:"What its sender is told."`
}

type trialRequestView struct {
	Method  string     `json:"method" example:"POST"`
	URL     string     `json:"url"`
	Headers headerView `json:"headers"`
	Body    string     `json:"body" doc:"What is not UTF-8 is replaced."`
}

type trialSignatureView struct {
	By       accept.Signer `json:"by" enum:"source,trial,stranger,nobody" doc:"Whose secret signed: the source's newest; one that was made for the trial, and by which it was verified, where the source has none to sign with; a stranger's; or nobody's."`
	Headers  []string      `json:"headers" doc:"The headers that it added."`
	SignedAt *timestamp    `json:"signed_at,omitempty" doc:"The time that was signed, where the kind signs one."`
}

type trialVerdictView struct {
	Accepted  bool              `json:"accepted"`
	Code      string            `json:"code,omitempty" example:"signature_mismatch" doc:"Why it was refused."`
	Header    string            `json:"header,omitempty" doc:"The header that was read, where it was refused."`
	Detail    string            `json:"detail,omitempty" doc:"What was wrong, or what kind of handshake it was, in words."`
	SecretID  *gateway.SecretID `json:"secret_id,omitempty" doc:"The secret that proved it."`
	Handshake bool              `json:"handshake" doc:"It asked for an answer, and is no event."`
}

type trialEventView struct {
	EventID   *gateway.EventID `json:"event_id,omitempty" doc:"The stored event, for a duplicate the first one."`
	Type      string           `json:"type" example:"push"`
	Key       string           `json:"key,omitempty" doc:"By what repeats are known. Left out: by nothing."`
	Duplicate bool             `json:"duplicate"`
}

type trialAnswerView struct {
	Status int    `json:"status" example:"200"`
	Body   string `json:"body,omitempty" doc:"Where the provider wants one of its own form."`
}

func (a *API) addSourceTrialRoutes() {
	registerJSON(a, route{
		method: post, path: "/sources/{id}/test", needs: gateway.PermConfigure, status: 200, optional: true, maxBody: 2*a.MaxBody + envelopeBytes,
		id: "testSource", tag: tagSources, summary: "Send a source a signed test request",
		about: "Signs a sample, or a body of yours, as the provider would, and takes it in, which is audited. Of kinds whose key only the provider has nothing is taken in: use dry_run.",
	}, a.trySource)
}

func (a *API) trySource(ctx context.Context, who caller, in *sourcePath, body trySourceBody) (*objectReply[sourceTrialView], error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if body.Body != nil && len(*body.Body) > a.MaxBody {
		return nil, problem.At("body.body", "want at most %d bytes (ROWLOCK_MAX_BODY)", a.MaxBody)
	}
	tried, err := a.Accept.Try(ctx, who.account(), who.actor(), id, body.trial())
	return object(tried, err, viewSourceTrial)
}

// trial is what the use case takes.
func (b trySourceBody) trial() accept.Trial {
	t := accept.Trial{Send: b.DryRun == nil || !*b.DryRun}
	if b.Body != nil {
		t.Body = []byte(*b.Body)
	}
	if b.Fault != nil {
		t.Fault = accept.Fault(*b.Fault)
	}
	if b.Headers != nil {
		t.Header = http.Header{}
		for name, value := range b.Headers {
			t.Header[name] = []string{value}
		}
	}
	return t
}

func viewSourceTrial(t accept.Tried) sourceTrialView {
	v := sourceTrialView{
		DryRun: !t.Sent,
		Request: trialRequestView{
			t.Request.Method, printable(t.Request.URL), headers(gateway.EncodeHeaders(t.Request.Header)), printable(string(t.Request.Body)),
		},
		Signature: trialSignatureView{By: t.Signing.By, Headers: append([]string{}, t.Signing.Headers...)},
		Verdict:   viewVerdict(t), Events: []trialEventView{}, Answer: trialAnswerView{Status: http.StatusOK},
	}
	if !t.Signing.At.IsZero() {
		v.Signature.SignedAt = optionalTime(&t.Signing.At)
	}
	if t.Answer != nil {
		v.Answer = trialAnswerView{t.Answer.Status, printable(t.Answer.Body)}
	}
	if t.Refused != nil {
		v.Answer = trialAnswerView{Status: problem.From(t.Refused).Status}
		return v
	}
	for _, e := range t.Events {
		v.Events = append(v.Events, trialEventView{e.ID, printable(e.Type), printable(e.Key), e.Duplicate})
	}
	return v
}

func viewVerdict(t accept.Tried) trialVerdictView {
	if t.Refused != nil {
		p := problem.From(t.Refused)
		v := trialVerdictView{Code: string(p.Code), Detail: p.Detail}
		if refusal, ok := errors.AsType[*signature.Refusal](t.Refused); ok {
			v.Header = refusal.Header
		}
		return v
	}
	v := trialVerdictView{Accepted: true}
	if hello := t.Verified.Handshake; hello != nil {
		v.Handshake, v.Detail = true, hello.Detail
	}
	if !t.Verified.Secret.IsZero() {
		v.SecretID = &t.Verified.Secret
	}
	return v
}
