package listener

import (
	"context"
	"slices"

	"github.com/rowlock/rowlock/internal/client"
)

// tell has an order reported.
func (l *Listener) tell(o client.Order, r client.Report) {
	r.ID = o.ID
	l.mu.Lock()
	l.reports = append(l.reports, report{Report: r, delivery: o.DeliveryID})
	l.mu.Unlock()
	select {
	case l.told <- struct{}{}:
	default:
	}
}

// report tells the server how orders went, until it is to end and nothing is left
// to tell, or ctx ends.
func (l *Listener) report(ctx context.Context, end <-chan struct{}) {
	var line connection
	most := client.MaxReports
	for {
		some := l.someReports(most)
		if len(some) == 0 {
			select {
			case <-l.told:
				continue
			case <-end:
				if len(l.someReports(most)) == 0 {
					return
				}
				continue
			case <-ctx.Done():
				return
			}
		}
		recorded, err := l.Client.Report(ctx, l.Endpoint, l.id, reportsOf(some))
		switch {
		case err == nil:
			line.isThere()
			l.forget(some, recorded)
			most = min(2*most, client.MaxReports)
		case ctx.Err() != nil:
			return
		case isFinal(err) && len(some) > 1:
			most = 1 // it may be one of them: the others are told without it
		case isFinal(err):
			l.reduce()
		default:
			line.lost(err)
			line.wait(ctx)
		}
	}
}

// someReports are the oldest reports that are to be told, at most so many.
func (l *Listener) someReports(most int) []report {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.reports[:min(len(l.reports), most)])
}

func reportsOf(some []report) []client.Report {
	reports := make([]client.Report, len(some))
	for i := range some {
		reports[i] = some[i].Report
	}
	return reports
}

// reduce leaves out what the local program answered, where the server refuses to
// take the oldest report: it may be that. One that it refuses even so is dropped.
// Its order is held on, so that it is not given again at once, to be refused again:
// the server gives it up in its own time.
func (l *Listener) reduce() {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &l.reports[0]
	if r.Headers == nil && r.Body == nil && r.Detail == "" {
		l.reports = l.reports[1:]
		return
	}
	r.Headers, r.Body, r.Detail = nil, nil, ""
}

// forget drops reports that arrived. What the server has recorded as confirmed is
// not remembered any more: when it comes again, somebody wants it sent again. What
// the server gave up before we told it comes again by itself, and is remembered.
func (l *Listener) forget(some []report, recorded []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reports = l.reports[len(some):]
	for _, r := range some {
		delete(l.held, r.ID)
		if slices.Contains(recorded, r.ID) {
			delete(l.confirmed, r.delivery)
		}
	}
}
