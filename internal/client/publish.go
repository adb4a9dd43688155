package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxAnswer bounds, in bytes, how much of an answer is read: what the API
// says about one event is well under a kilobyte.
const maxAnswer = 1 << 20

// Event is what Publish sends. Empty fields are left out.
type Event struct {
	// Type names what happened, for example order.created.
	Type string
	// Subject names what it happened to.
	Subject string
	// Key makes repeats of the call harmless: the same key is one event.
	Key string
	// Data is one JSON value; it is sent byte for byte.
	Data []byte
}

// Accepted is the server's word that the event is stored.
type Accepted struct {
	// ID is the event's id; for a repeat, that of the first call's event.
	ID string `json:"id"`
	// Type is the event's type, as stored.
	Type string `json:"type"`
	// Duplicate tells that the key was known: no new event was made.
	Duplicate bool `json:"duplicate"`
	// CreatedAt is when the event was accepted; zero for a repeat where the
	// server does not say.
	CreatedAt time.Time `json:"created_at"`
}

// Publish sends one event and returns once the server has stored it. Errors: a
// *Problem when the server said no, a *CallError when there is no answer to
// understand. After a *CallError the event may have been stored all the same;
// sending it again is safe when it carries a key.
func (c *Client) Publish(ctx context.Context, event Event) (Accepted, error) {
	body, err := event.body()
	if err != nil {
		return Accepted{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := c.call(ctx, http.MethodPost, apiPath+"/events", sent{jsonType, body}, maxAnswer)
	if err != nil {
		return Accepted{}, err
	}
	var accepted Accepted
	if err := json.Unmarshal(answer, &accepted); err != nil || accepted.ID == "" {
		return Accepted{}, &CallError{Server: c.server.String(), Cause: errNotRowlock}
	}
	return accepted, nil
}

// body writes the request by hand around the data, since an encoder would
// compact it and replace characters in it.
func (e Event) body() ([]byte, error) {
	var body bytes.Buffer
	body.WriteByte('{')
	for _, field := range []struct{ name, value string }{{"type", e.Type}, {"subject", e.Subject}, {"key", e.Key}} {
		if field.value == "" {
			continue
		}
		text, err := json.Marshal(field.value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", field.name, err)
		}
		fmt.Fprintf(&body, "%q:%s,", field.name, text)
	}
	body.WriteString(`"data":`)
	body.Write(e.Data)
	body.WriteByte('}')
	return body.Bytes(), nil
}

// sent is a body of a request.
type sent struct {
	kind string
	body []byte
}

// jsonType is what most bodies are.
const jsonType = "application/json"

// call sends a body and returns that of a 2xx answer, which is no longer than
// most. The context bounds it.
func (c *Client) call(ctx context.Context, method, path string, s sent, most int64) ([]byte, error) {
	path, query, _ := strings.Cut(path, "?")
	target := c.server.JoinPath(path)
	target.RawQuery = query
	req, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(s.body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Content-Type", s.kind)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &CallError{Server: c.server.String(), Cause: bare(err)}
	}
	defer resp.Body.Close() //nolint:errcheck // only read from
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return nil, &CallError{Server: c.server.String(), Cause: err}
	}
	if resp.StatusCode/100 != 2 {
		return nil, problemFrom(resp, answer)
	}
	return answer, nil
}

// bare takes off what net/http puts around a cause: method and address, which
// a CallError names itself.
func bare(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
