package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// callTimeout bounds one call, batches of a thousand events included.
const callTimeout = 30 * time.Second

// caller calls the API with a key.
type caller struct{ base, key string }

// call sends a body as JSON, and reads the answer into answer if there is one.
func (c *caller) call(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer reply.Body.Close() //nolint:errcheck // what was to be read was
	got, err := io.ReadAll(reply.Body)
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w", method, path, err)
	case reply.StatusCode >= http.StatusMultipleChoices:
		return fmt.Errorf("%s %s: %s: %s", method, path, reply.Status, got)
	case answer == nil:
		return nil
	}
	return json.Unmarshal(got, answer)
}

// endpoint makes an endpoint at a far side, for one event type.
func (c *caller) endpoint(ctx context.Context, f *farSide, eventType string, settings map[string]any) (id string, err error) {
	body := map[string]any{"url": f.URL, "event_types": []string{eventType}}
	maps.Copy(body, settings)
	var made struct{ ID string }
	err = c.call(ctx, http.MethodPost, "/endpoints", body, &made)
	return made.ID, err
}

// maxBatch is how many events one call may carry.
const maxBatch = 1000

// publish sends so many events.
func (c *caller) publish(ctx context.Context, eventType string, n int) error {
	for ; n > 0; n -= maxBatch {
		event := `{"type":"` + eventType + `","data":{}}`
		events := strings.TrimSuffix(strings.Repeat(event+",", min(n, maxBatch)), ",")
		if err := c.call(ctx, http.MethodPost, "/events/batch", json.RawMessage(`{"events":[`+events+`]}`), nil); err != nil {
			return err
		}
	}
	return nil
}

// drainBacklog pauses an endpoint until a backlog waits for it, resumes it, and
// returns when all of it has arrived.
func (c *caller) drainBacklog(ctx context.Context, f *farSide, eventType string, backlog int, settings map[string]any) error {
	id, err := c.endpoint(ctx, f, eventType, settings)
	if err != nil {
		return err
	}
	if err := c.call(ctx, http.MethodPost, "/endpoints/"+id+"/pause", struct{}{}, nil); err != nil {
		return err
	}
	if err := c.publish(ctx, eventType, backlog); err != nil {
		return err
	}
	if err := c.untilHeld(ctx, id, backlog); err != nil {
		return err
	}
	if err := c.call(ctx, http.MethodPost, "/endpoints/"+id+"/resume", struct{}{}, nil); err != nil {
		return err
	}
	return f.until(ctx, backlog)
}

// untilHeld waits until so many deliveries of a paused endpoint are held.
func (c *caller) untilHeld(ctx context.Context, endpoint string, n int) error {
	return until(ctx, "the backlog waits", func() (bool, error) {
		held := 0
		for cursor := ""; ; {
			var page struct {
				Data []struct{ ID string }
				Next string `json:"next_cursor"`
			}
			path := "/deliveries?status=held&limit=250&endpoint=" + endpoint
			if cursor != "" {
				path += "&cursor=" + cursor
			}
			if err := c.call(ctx, http.MethodGet, path, nil, &page); err != nil {
				return false, err
			}
			held += len(page.Data)
			if cursor = page.Next; cursor == "" {
				return held == n, nil
			}
		}
	})
}
