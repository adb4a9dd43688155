package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// lookTimeout bounds one look at a server.
const lookTimeout = 3 * time.Second

// Presence is what answers at a server's address.
type Presence int

// What may be there.
const (
	// Nobody: nothing answers.
	Nobody Presence = iota
	// Starting is a Rowlock that is not ready.
	Starting
	// Ready is a Rowlock that is.
	Ready
	// Stranger is something else.
	Stranger
)

// Look tells what answers at an address, which is that of a server. It needs no
// key. An address that cannot be one is a *SettingError.
func Look(ctx context.Context, address string) (Presence, error) {
	server, err := parseServer(address)
	if err != nil {
		return Nobody, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.JoinPath("readyz").String(), http.NoBody)
	if err != nil {
		return Nobody, &CallError{Server: server.String(), Cause: err}
	}
	resp, err := newHTTPClient().Do(req)
	if err != nil {
		return Nobody, nil //nolint:nilerr // that nothing answers is what was asked
	}
	defer resp.Body.Close() //nolint:errcheck // only read from
	var said struct {
		Ready *bool `json:"ready"`
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil || json.Unmarshal(text, &said) != nil || said.Ready == nil:
		return Stranger, nil //nolint:nilerr // it answers, and not as we do
	case *said.Ready:
		return Ready, nil
	}
	return Starting, nil
}
