package accept_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// sender sends to a source as its provider does.
type sender struct {
	source gateway.Source
	scheme signature.Scheme
	// secret is what it signs with.
	secret string
	b      bundle
}

// newSender makes a source, with a secret of its kind, and its sender.
func (b bundle) newSender(t *testing.T, source gateway.Source) sender {
	t.Helper()
	scheme, _ := signature.Lookup(source.Kind)
	stored, private := scheme.NewPair()
	if private == "" {
		stored, private = proof, proof
	}
	source = b.makeSource(t, source)
	b.addSecret(t, source, stored)
	return sender{source, scheme, private, b}
}

// signed is a request with this body.
func (s sender) signed(t *testing.T, body string) accept.Incoming {
	t.Helper()
	request := s.scheme.Sample(baseURL+gateway.IngestPath+s.source.Token, "id", s.b.clock.Now())
	request.Body = []byte(body)
	if err := s.scheme.Sign(&request, signature.Settings{}, s.secret); err != nil {
		t.Error(err)
	}
	return accept.Incoming{Token: s.source.Token, Method: request.Method, Header: request.Header, Body: request.Body, URL: baseURL + gateway.IngestPath + s.source.Token}
}

// outcome is how one of several calls ended.
type outcome struct {
	accept.Receipt

	err error
}

// atOnce makes n calls side by side.
func atOnce(n int, do func(i int) (accept.Receipt, error)) []outcome {
	all := make([]outcome, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			all[i].Receipt, all[i].err = do(i)
		})
	}
	close(start)
	wg.Wait()
	return all
}

// wantOutcomes fails unless so many calls ended well, and all others with an
// error that is told from others by is.
func wantOutcomes(t *testing.T, all []outcome, well int, is func(error) bool) {
	t.Helper()
	got := 0
	for i, one := range all {
		switch {
		case one.err == nil:
			got++
		case is == nil || !is(one.err):
			t.Errorf("call %d: %v", i, one.err)
		}
	}
	if got != well {
		t.Errorf("%d of %d ended well, want %d", got, len(all), well)
	}
}

func isError(want error) func(error) bool {
	return func(err error) bool { return errors.Is(err, want) }
}

func isRefused(code string) func(error) bool {
	return func(err error) bool {
		refusal, ok := errors.AsType[*signature.Refusal](err)
		return ok && refusal.Code == code
	}
}

// mails is a request of SendGrid's with an event for each id; "" is one
// without.
func mails(ids ...string) string {
	body := "["
	for i, id := range ids {
		if i > 0 {
			body += ",\r\n"
		}
		if id == "" {
			body += fmt.Sprintf(`{"event":"open","n":%d}`, i)
			continue
		}
		body += fmt.Sprintf(`{"sg_event_id":%q,"event":"delivered", "n" : 1.0}`, id)
	}
	return body + "]\r\n"
}
