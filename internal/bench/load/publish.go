package load

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/bench/load/burst"
)

// eventsPath is where events are published.
const eventsPath = "/api/v1/events"

// publisher publishes the events of one type.
type publisher struct {
	head, before []byte
	body         body
	began        time.Time
	// sent are the times since began at which each event was sent, by its number.
	sent []time.Duration
}

func (r *run) publisher(kind string, size, events int) *publisher {
	return &publisher{
		head:   head(r.server, eventsPath, r.Key),
		before: fmt.Appendf(nil, `{"type":%q,"data":`, kind),
		body:   newBody(size),
		began:  time.Now(),
		sent:   make([]time.Duration, events),
	}
}

// publish publishes the n-th event over a connection.
func (p *publisher) publish(w *wire, n int) error {
	p.sent[n] = time.Since(p.began)
	status, text, err := w.send(p.head, len(p.before)+len(p.body.of)+1, func(buffer []byte) []byte {
		return append(p.body.put(append(buffer, p.before...), n), '}')
	})
	if err != nil {
		return err
	}
	if status != http.StatusAccepted {
		return fmt.Errorf("publish an event: %w: %d %s", burst.ErrUnexpected, status, text)
	}
	return nil
}

// all publishes every event, as many at once as there are connections.
func (p *publisher) all(ctx context.Context, r *run, connections int) (burst.Burst, error) {
	wires, hangUp, err := dialAll(ctx, r.server, connections)
	if err != nil {
		return burst.Burst{}, err
	}
	defer hangUp()
	return burst.Spread(ctx, connections, 0, len(p.sent), func(_ context.Context, c, n int) error {
		return p.publish(wires[c], n)
	})
}
