package accept

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// texts are the secrets behind a trial, in every spelling in which they can
// stand in a request. Public keys are none.
func (c console) texts(with signer) []string {
	var texts []string
	add := func(secret string) {
		if secret == "" {
			return
		}
		quoted, err := json.Marshal(secret)
		if err == nil {
			texts = append(texts, string(quoted[1:len(quoted)-1]))
		}
		texts = append(texts, secret, url.QueryEscape(secret), url.PathEscape(secret))
	}
	add(with.key)
	if !c.scheme.Info().Secret.Public {
		for _, secret := range c.source.secrets {
			add(string(secret.Value))
		}
	}
	// The longest first: one spelling may be the beginning of another.
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(texts)
}

// masked is the request as it may be shown.
func (c console) masked(made madeRequest) signature.Request {
	r := made.Request
	in := Incoming{Method: r.Method, Header: r.Header, Body: r.Body}
	r.Header = gateway.DecodeHeaders(bodyOf(in, c.scheme, c.source.settings.Scheme.Raw).Headers)
	mask := redactor(made.secrets)
	for _, values := range r.Header {
		for i := range values {
			values[i] = mask.Replace(values[i])
		}
	}
	r.URL, r.Query, r.Body = mask.Replace(r.URL), mask.Replace(r.Query), []byte(mask.Replace(string(r.Body)))
	return r
}

// redactor takes texts out of another. Of two that begin at the same place it
// takes the first of the list.
func redactor(secrets []string) *strings.Replacer {
	pairs := make([]string, 0, 2*len(secrets))
	for _, secret := range secrets {
		pairs = append(pairs, secret, gateway.Redacted)
	}
	return strings.NewReplacer(pairs...)
}
