package signature

import (
	"errors"
	"strings"
)

// gitlab verifies GitLab's webhooks in one of two ways, as the secret says. A
// signing token, which begins with whsec_, makes signatures of Standard
// Webhooks. Any other secret is the older secret token, which GitLab sends as
// it is in X-Gitlab-Token: that shows who sends, and protects nothing of what
// is sent.
//
// A request that carries a signature has to pass by it, whatever token it has
// beside it.
//
// webhook-id, which is Idempotency-Key too, is the same over retries. Versions
// before it send X-Gitlab-Event-UUID, which the webhooks that an event's own
// webhooks cause share with it: the body tells those apart.
//
// Source: docs.gitlab.com/user/project/integrations/webhooks.
var gitlab = &provider{
	info: Info{
		Kind: "gitlab", Name: "GitLab", Summary: "Signing token or secret token", Group: GroupCode,
		Words: "git push merge request pipeline issue tag",
		Docs:  "https://docs.gitlab.com/user/project/integrations/webhooks/",
		Secret: SecretInfo{
			Name: "Signing token or secret token", MadeUp: true,
			From: "Choose the signing token (whsec_…) where your GitLab offers it: it protects the body. Otherwise make up a secret token and enter the same one at GitLab.",
		},
		SecretHeaders: []string{"X-Gitlab-Token"},
		Timed:         true,
		Steps: []string{
			"At GitLab, open the project’s or the group’s Settings, then Webhooks, and choose “Add new webhook”.",
			"Paste the ingest URL as the “URL”, and enter the same token as here.",
			"Choose the triggers and save. “Test” sends a sample event.",
		},
		Protects: "With a signing token the body, the id and the time are signed. With a secret token nothing is: whoever has it can send anything.",
		Key: KeyInfo{
			From:  "webhook-id or Idempotency-Key; of older versions X-Gitlab-Event-UUID with the body",
			Scope: "A signing token covers the id, a secret token does not.",
		},
		Answer:  "Any 2xx within 10 seconds.",
		Retries: "Newer versions send again with the same id. A webhook that keeps failing is disabled, at first for a while.",
	},
	secret: gitlabSecret,
	proof:  gitlabProof{},
	events: reader{
		id:   firstOf(gitlabDelivery, header("X-Gitlab-Event-Uuid")),
		key:  firstOf(gitlabDelivery, all(header("X-Gitlab-Event-Uuid"), hashed)),
		kind: firstOf(header("X-Gitlab-Event"), field("object_kind")),
	},
	sample: sample{
		header: map[string]string{"Webhook-Id": "{id}", "Idempotency-Key": "{id}", "X-Gitlab-Event": "Push Hook"},
		body:   `{"object_kind":"push","event_name":"push","ref":"refs/heads/main","project_id":15,"total_commits_count":0,"commits":[]}`,
	},
}

// gitlabDelivery finds what names a delivery over its retries.
var gitlabDelivery = firstOf(provenID, header("Webhook-Id"), header("Idempotency-Key"))

// gitlabSecret stores signing tokens in their one form, and others as text.
func gitlabSecret(pasted string) (string, error) {
	if isSigningToken(trimPasted(pasted)) {
		return checkWebhookKey(pasted)
	}
	return checkText(pasted)
}

func isSigningToken(secret string) bool { return strings.HasPrefix(secret, prefixSymmetric) }

// gitlabProof is one of two provers, as the request and the secrets are.
type gitlabProof struct{}

var (
	gitlabSigned = webhooksProof{headersWebhook}
	gitlabToken  = tokenProof{header: "X-Gitlab-Token"}
)

func (gitlabProof) prove(r Request, settings Settings, secrets []Secret) (proof, error) {
	var signing, tokens []Secret
	for _, s := range secrets {
		if isSigningToken(string(s.Value)) {
			signing = append(signing, s)
		} else {
			tokens = append(tokens, s)
		}
	}
	if len(r.Header.Values(headersWebhook.signature)) == 0 && len(tokens) > 0 {
		return gitlabToken.prove(r, settings, tokens)
	}
	found, err := gitlabSigned.prove(r, settings, signing)
	if refusal, ok := errors.AsType[*Refusal](err); ok && refusal.Code == CodeMismatch && len(signing) == 0 && len(tokens) > 0 {
		refusal.Detail = "The request is signed, and this source has no signing token (whsec_…) to check it with, only a secret token."
	}
	return found, err
}

func (gitlabProof) sign(r *Request, settings Settings, secret string) error {
	if isSigningToken(secret) {
		return gitlabSigned.sign(r, settings, secret)
	}
	return gitlabToken.sign(r, settings, secret)
}
