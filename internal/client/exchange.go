package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// apiPath is where the API begins.
const apiPath = "/api/v1"

// New makes a client of a server, by its address, with a key. An address or a key
// that cannot be one is a *SettingError.
func New(server, key string) (*Client, error) {
	return FromEnviron([]string{ServerVariable + "=" + server, KeyVariable + "=" + key})
}

// Do makes a call of the API whose body and answer are JSON; either may be nil. The
// path is what follows /api/v1. Errors: a *Problem; a *CallError.
func (c *Client) Do(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.exchange(ctx, method, apiPath+path, body, into)
}

// Upload posts a body of any kind and reads an answer of JSON, as Do does.
func (c *Client) Upload(ctx context.Context, path, kind string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.read(ctx, http.MethodPost, apiPath+path, sent{kind, body}, into)
}

// exchange makes a call whose body and answer are JSON; both may be nil.
func (c *Client) exchange(ctx context.Context, method, path string, body, into any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return &CallError{Server: c.server.String(), Cause: err}
		}
	}
	return c.read(ctx, method, path, sent{jsonType, text}, into)
}

// read makes a call and reads its answer.
func (c *Client) read(ctx context.Context, method, path string, s sent, into any) error {
	answer, err := c.call(ctx, method, path, s, maxOrders)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return &CallError{Server: c.server.String(), Cause: errNotRowlock}
	}
	return nil
}
