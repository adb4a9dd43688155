// Package publish sends events to a server over connections that stay open.
package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// answerWithin bounds one request.
const answerWithin = 30 * time.Second

// Publisher calls a server's API with a key. It may be used by many at once.
type Publisher struct {
	base, key string
	client    *http.Client
}

// New makes a publisher for so many connections at once.
func New(server, key string, connections int) *Publisher {
	return &Publisher{base: server + "/api/v1", key: key, client: &http.Client{
		Timeout: answerWithin, Transport: &http.Transport{MaxIdleConnsPerHost: connections},
	}}
}

// Close closes the connections that nobody uses.
func (p *Publisher) Close() { p.client.CloseIdleConnections() }

// Publish sends one event of a type, and returns when it is accepted.
func (p *Publisher) Publish(ctx context.Context, kind string, data any) error {
	return p.post(ctx, "/events", map[string]any{"type": kind, "data": data}, http.StatusAccepted)
}

// Endpoint makes an endpoint that takes events of a type.
func (p *Publisher) Endpoint(ctx context.Context, url, kind string) error {
	return p.post(ctx, "/endpoints", map[string]any{"url": url, "event_types": []string{kind}}, http.StatusCreated)
}

func (p *Publisher) post(ctx context.Context, path string, body any, want int) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("POST %s: %w", path, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("POST %s: %w", path, err)
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("POST %s: %w", path, err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	got, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return fmt.Errorf("POST %s: %w", path, err)
	case answer.StatusCode != want:
		return fmt.Errorf("POST %s: %s: %s", path, answer.Status, got)
	}
	return nil
}
