package api

import (
	"context"
	"mime"

	"github.com/rowlock/rowlock/internal/gateway"
)

// payloadPolicy keeps a payload, which is a stranger's text, from ever running
// as a page of ours. It adds to what every answer carries.
const payloadPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

// What a payload is answered as.
const (
	payloadJSON  = "application/json"
	payloadBytes = "application/octet-stream"
)

// payloadReply is an event's bytes, to be saved and not to be shown.
type payloadReply struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	Policy             string `header:"Content-Security-Policy"`
	CacheControl       string `header:"Cache-Control"`
	Body               []byte
}

func (a *API) getPayload(ctx context.Context, who caller, in *eventPath) (*payloadReply, error) {
	event, err := a.findEvent(ctx, who, in)
	if err != nil {
		return nil, err
	}
	arrived, err := a.Store.Body(ctx, who.account(), event.ID)
	if err != nil {
		return nil, err
	}
	kind, suffix := payloadKind(arrived.Headers)
	return &payloadReply{
		ContentType:        kind,
		ContentDisposition: `attachment; filename="` + event.ID.String() + suffix + `"`,
		Policy:             payloadPolicy,
		CacheControl:       "no-store",
		Body:               arrived.Data,
	}, nil
}

// payloadKind is the media type to answer with, and a file's suffix. Only JSON
// keeps its own: whatever else was sent is bytes.
func payloadKind(stored []byte) (kind, suffix string) {
	if named, _, err := mime.ParseMediaType(contentType(stored)); err == nil && named == payloadJSON {
		return payloadJSON, ".json"
	}
	return payloadBytes, ".bin"
}

func (a *API) deletePayload(ctx context.Context, who caller, in *eventPath) (*empty, error) {
	id, err := pathID[gateway.EventID](in.ID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.Deliver.DeletePayload(ctx, who.account(), who.actor(), id)
}
