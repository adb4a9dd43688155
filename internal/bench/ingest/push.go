package main

import (
	"bytes"
	"context"
	_ "embed" // the push
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/bench/load/burst"
	"github.com/rowlock/rowlock/internal/signature"
)

//go:embed push.json
var pushBody []byte

// pushSecret signs the pushes; the source has it.
const pushSecret = "a secret that is only measured with"

// push is GitHub's push, signed. Its signature covers the body alone, so that
// one serves for all of them: signing would take from the server what it is
// measured with.
type push struct {
	scheme signature.Scheme
	header http.Header
	body   []byte
}

// answerWithin bounds one push. It is far above what is measured, so that a slow
// answer is a figure rather than an error.
const answerWithin = 30 * time.Second

// deliveryHeader has the id by which repeats are known.
const deliveryHeader = "X-Github-Delivery"

func newPush() (push, error) {
	scheme, ok := signature.Lookup("github")
	if !ok {
		return push{}, fmt.Errorf("look up GitHub's kind: %w", burst.ErrUnexpected)
	}
	r := signature.Request{
		Method: http.MethodPost,
		Header: http.Header{"Content-Type": {"application/json"}, "X-Github-Event": {"push"}},
		Body:   pushBody,
	}
	if err := scheme.Sign(&r, signature.Settings{}, pushSecret); err != nil {
		return push{}, fmt.Errorf("sign the push: %w", err)
	}
	return push{scheme: scheme, header: r.Header, body: r.Body}, nil
}

// deliveryID is the id of the n-th push.
func deliveryID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// post sends the n-th push, and returns what was answered with 200.
func (p push) post(ctx context.Context, client *http.Client, url string, n int) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(p.body))
	if err != nil {
		return nil, fmt.Errorf("send a push: %w", err)
	}
	request.Header = p.header.Clone()
	request.Header.Set(deliveryHeader, deliveryID(n))
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("send a push: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer to a push: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("send a push: %w: %s %s", burst.ErrUnexpected, answer.Status, text)
	}
	return text, nil
}

// newClient returns a client whose connections stay open, one for each sender.
func newClient() (*http.Client, *http.Transport) {
	transport := &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	return &http.Client{Transport: transport, Timeout: answerWithin}, transport
}
