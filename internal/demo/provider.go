package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/signature"
)

// postTimeout bounds one request of a provider.
const postTimeout = 10 * time.Second

// webhook is what a provider sends.
type webhook struct {
	source string
	header map[string]string
	body   []byte
	// fault is what is wrong with it; empty: nothing.
	fault fault
}

// fault is how a webhook is forged.
type fault string

const (
	strange  fault = "signed with another secret"
	old      fault = "signed long ago"
	unsigned fault = "not signed"
	altered  fault = "changed after it was signed"
)

// tooOld is far beyond what any source tolerates.
const tooOld = time.Hour

// send signs a webhook as its provider does, and sends it.
func (d *demo) send(ctx context.Context, w webhook) error {
	s := d.sources[w.source]
	r := signature.Request{Method: http.MethodPost, URL: s.url, Header: http.Header{"Content-Type": {"application/json"}}, Body: w.body, Now: time.Now()}
	for name, value := range w.header {
		r.Header.Set(name, value)
	}
	secret := s.secret
	if w.fault == strange {
		secret = newSecret()
	}
	if w.fault == old {
		r.Now = r.Now.Add(-tooOld)
	}
	if w.fault != unsigned {
		if err := s.scheme.Sign(&r, signature.Settings{}, secret); err != nil {
			return fmt.Errorf("sign for %s: %w", w.source, err)
		}
	}
	if w.fault == altered {
		r.Body = append(slices.Clip(r.Body), ' ')
	}
	answer := d.out.Send(ctx, egress.Request{URL: s.address, Header: r.Header, Body: r.Body, Timeout: postTimeout})
	return w.judge(answer)
}

// judge tells whether the source answered as it has to.
func (w webhook) judge(answer egress.Result) error {
	switch {
	case answer.Status == 0:
		return fmt.Errorf("send to %s: %s", w.source, answer.Detail)
	case w.fault == "" && answer.Status/100 != 2, w.fault != "" && answer.Status != http.StatusUnauthorized:
		return fmt.Errorf("send to %s: it answered %d: %.200s", w.source, answer.Status, answer.Body)
	}
	return nil
}

// encode writes JSON of our own making.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts, numbers and maps of them
	}
	return text
}
