package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// settled is how old an event must be to be exported: ids are made before a
	// commit, and what came in a moment ago may still turn up behind what is newer.
	settled = time.Minute
	// exportRows is how many events of an export are in memory at once, and
	// chunkBytes how much of their bodies.
	exportRows = 500
	// turnWait is how long an export waits until others have ended.
	turnWait = 10 * time.Second
	// exportsAtOnce is how many exports a node writes at once, one of an account. It
	// is more than it takes to keep the node busy: a slow reader holds a place for as
	// long as it reads, and a few of them must not keep out everybody else.
	exportsAtOnce = 16
)

// Format is how an export is written.
type Format string

// The formats of an export.
const (
	// FormatNDJSON is one JSON object a line.
	FormatNDJSON Format = "ndjson"
	// FormatCSV is a table, the first line of which names the columns. Payloads are
	// left out of it.
	FormatCSV Format = "csv"
)

// Formats lists them.
var Formats = []Format{FormatNDJSON, FormatCSV}

// mediaType is what the text is sent as.
func (f Format) mediaType() string {
	if f == FormatCSV {
		return "text/csv; charset=utf-8"
	}
	return "application/x-ndjson"
}

// Export is a list of events that is about to be written, all of it.
type Export struct {
	*Service

	account  gateway.AccountID
	query    Query
	format   Format
	payloads bool
	// Until is the time before which events are in it.
	Until time.Time
	done  func()
}

// Export waits for its turn and takes it: the caller calls Close in the end.
// What came in within the last minute is left out. payloads has the bytes that
// came in stand beside each event, where the format can hold them. Errors:
// gateway.ErrRateLimited when others are at it already.
func (s *Service) Export(ctx context.Context, account gateway.AccountID, q Query, format Format, payloads bool) (*Export, error) {
	wait, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	done, err := s.exports.Take(wait, account)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = gateway.ErrRateLimited
	}
	if err != nil {
		return nil, fmt.Errorf("wait to export: %w", err)
	}
	e := &Export{Service: s, account: account, query: q, format: format, payloads: payloads && format == FormatNDJSON, done: done}
	e.Until = s.Clock.Now().Add(-settled)
	if !q.Until.IsZero() && q.Until.Before(e.Until) {
		e.Until = q.Until
	}
	e.query.Until = e.Until
	return e, nil
}

// Name is what a file with it is called.
func (e *Export) Name() string {
	return "events-" + e.Until.UTC().Format("20060102T150405Z") + "." + string(e.format)
}

// Words say what is in it, for the audit log.
func (e *Export) Words() string {
	q := e.query
	said := []string{string(e.format)}
	if e.payloads {
		said = append(said, "with payloads")
	}
	switch {
	case len(q.Events) > 0:
		return strings.Join(append(said, fmt.Sprintf("%d chosen", len(q.Events))), ", ")
	case q.narrows():
		said = append(said, "narrowed")
	}
	if !q.Since.IsZero() {
		said = append(said, "since "+q.Since.UTC().Format(time.RFC3339))
	}
	return strings.Join(append(said, "until "+e.Until.UTC().Format(time.RFC3339)), ", ")
}

// narrows tells that more than a time is asked for.
func (q Query) narrows() bool {
	return q.Type+q.Subject != "" || q.Key != nil || q.Source != nil || q.Endpoint != nil || q.statusMatters() || !q.Search.IsZero()
}

// MediaType is what it is sent as.
func (e *Export) MediaType() string { return e.format.mediaType() }

// Close gives the turn to whoever waits.
func (e *Export) Close() { e.done() }

// row is an event of an export, with what belongs to it.
type row struct {
	gateway.Event

	progress store.Progress
	source   string
}

// Write writes the events, newest first, as they are read: what is in memory
// is bounded, however many there are. It ends when nobody reads any more.
func (e *Export) Write(ctx context.Context, to io.Writer) error {
	if e.query.empty() {
		return e.writer(to).flush()
	}
	p, err := e.plan(ctx, e.account, e.query)
	if err != nil {
		return err
	}
	w := &walk{Service: e.Service, plan: p, page: store.Page[gateway.EventID]{Since: e.query.Since, Until: e.query.Until}}
	out := e.writer(to)
	for !w.over {
		events, err := w.step(ctx, exportRows)
		if err != nil {
			return err
		}
		if err := e.writeSome(ctx, out, events); err != nil {
			return err
		}
	}
	return out.flush()
}

// empty tells that nothing can have come in between its times.
func (q Query) empty() bool { return !q.Until.IsZero() && !q.Since.Before(q.Until) }

func (e *Export) writer(to io.Writer) writer {
	if e.format == FormatCSV {
		return newTable(to)
	}
	return newLines(to)
}

// writeSome writes a few events and hands them over.
func (e *Export) writeSome(ctx context.Context, out writer, events []gateway.Event) error {
	progress, err := e.Store.Progress(ctx, e.account, idsOf(events))
	if err != nil {
		return err
	}
	sources := make([]gateway.SourceID, len(events))
	for i, event := range events {
		sources[i] = event.SourceID
	}
	labels, err := e.Store.SourceLabels(ctx, e.account, sources)
	if err != nil {
		return err
	}
	for len(events) > 0 {
		part := chunk(events)
		events = events[len(part):]
		arrived, err := e.arrived(ctx, part)
		if err != nil {
			return err
		}
		for _, event := range part {
			r := row{event, progress[event.ID], labels[event.SourceID].Name}
			if err := out.write(r, arrived[event.ID]); err != nil {
				return fmt.Errorf("write export: %w", err)
			}
		}
		if err := out.flush(); err != nil { // before the next bodies come
			return err
		}
	}
	return nil
}

// arrived reads the bodies of a few events, where they are asked for.
func (e *Export) arrived(ctx context.Context, events []gateway.Event) (map[gateway.EventID][]byte, error) {
	if !e.payloads {
		return nil, nil
	}
	bodies := map[gateway.EventID][]byte{}
	err := e.Store.EachArrived(ctx, e.account, idsOf(events), func(id gateway.EventID, _, body []byte) {
		bodies[id] = append([]byte{}, body...)
	})
	return bodies, err
}
