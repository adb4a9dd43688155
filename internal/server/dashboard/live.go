package dashboard

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
)

const (
	// pulseEvery is how often a stream looks for news.
	pulseEvery = time.Second
	// recheckEvery is how often it looks whether its reader may still read, and
	// sends something, so that what stands between keeps the connection: whoever
	// is logged out elsewhere learns nothing for longer.
	recheckEvery = 5 * time.Second
	// streamLife ends a stream, which the browser then opens anew: perhaps on
	// a node that has less to do.
	streamLife = 15 * time.Minute
	// streamWrite bounds the writing of one hint.
	streamWrite = 10 * time.Second
)

// hint tells a page what has come since it was drawn. It holds nothing of it:
// the page reads anew what it shows, and misses nothing if a hint is lost.
type hint struct {
	Events   int
	Attempts int64
	// Operation changes with the operation that the page is about, the reconciliation,
	// or who listens.
	Operation int64
	// Claims is how many keys were claimed for the first time, and Ledger changes
	// with the claims that are not done; it is zero while they stand as they did.
	Claims int
	Ledger uint32
}

// watch is what a stream remembers between two looks.
type watch struct {
	// since is when the page was drawn.
	since time.Time
	// endpoint narrows what attempts are counted; nil counts the account's.
	endpoint *gateway.EndpointID
	// operation is looked at, too; nil for none.
	operation *gateway.OperationID
	// reconciliation is looked at, as operation is; nil for none.
	reconciliation *gateway.ReconciliationID
	// source's requests that became no event are counted with the events; nil for
	// none.
	source *gateway.SourceID
	// ledger is how the claims stood that are not done when the page was drawn; nil
	// for a page that is not about them.
	ledger *uint32
	// listener is how it stood with who listens for endpoint when the page was drawn;
	// nil for a page that is not about that.
	listener *uint32
	// told is the last hint.
	told hint
	// anchor is from when on attempts are counted, and before how many came
	// between the drawing of the page and then: a page that is open all day
	// reads few minutes.
	anchor time.Time
	before int64
}

// anchorFor is how long attempts are counted from one anchor.
const anchorFor = 2 * time.Minute

// paramClaims has a stream tell of the ledger.
const (
	paramClaims = "claims"
	// paramReconciliation names the reconciliation that a stream tells of.
	paramReconciliation = "reconciliation"
)

// paramEndpoint narrows a stream to the attempts of one endpoint.
const paramEndpoint = "endpoint"

// live is what makes a page listen.
func (v *visit) live() *layout.Live { return v.liveOf(v.at("stream"), nil) }

// liveOfEndpoint is live with the attempts of one endpoint alone.
func (v *visit) liveOfEndpoint(id gateway.EndpointID) *layout.Live {
	return v.liveOf(v.at("stream")+"?"+url.Values{paramEndpoint: {id.String()}}.Encode(), &id)
}

// liveOfOperation is live, and hears how far an operation got.
func (v *visit) liveOfOperation(id gateway.OperationID) *layout.Live {
	return v.liveOf(v.at("stream")+"?"+url.Values{paramOperation: {id.String()}}.Encode(), nil)
}

// liveOfReconciliation is live, and hears how far a reconciliation got.
func (v *visit) liveOfReconciliation(id gateway.ReconciliationID) *layout.Live {
	return v.liveOf(v.at("stream")+"?"+url.Values{paramReconciliation: {id.String()}}.Encode(), nil)
}

// liveOfSource is live, and hears of requests to the source that are no events.
func (v *visit) liveOfSource(id gateway.SourceID) *layout.Live {
	return v.liveOf(v.at("stream")+"?"+url.Values{paramSource: {id.String()}}.Encode(), nil)
}

// liveOfClaims is live, and hears of the ledger. A database that does not tell
// how it stands is no reason to show no page.
func (v *visit) liveOfClaims() *layout.Live {
	pulse, err := v.d.Store.ClaimPulse(v.ctx(), v.account(), gateway.FirstIDAt[gateway.ClaimID](v.now()))
	if err != nil {
		v.d.Log.WarnContext(v.ctx(), "page without the standing of its claims", "error", err)
	}
	ledger := strconv.FormatUint(uint64(standing(pulse.Open)), 10)
	return v.liveOf(v.at("stream")+"?"+url.Values{paramClaims: {ledger}}.Encode(), nil)
}

// liveOf notes when the page is drawn, and how many attempts that minute had
// until then. A database that does not tell is no reason to show no page.
func (v *visit) liveOf(stream string, endpoint *gateway.EndpointID) *layout.Live {
	now := v.now()
	pulse, err := v.d.Store.Pulse(v.ctx(), v.account(), gateway.FirstIDAt[gateway.EventID](now), now, endpoint)
	if err != nil {
		v.d.Log.WarnContext(v.ctx(), "page without a point to count from", "error", err)
	}
	return &layout.Live{Stream: stream, Since: fmt.Sprintf("%d.%d", now.UnixMicro(), pulse.Attempts)}
}

// watchedFor is how long after it was drawn a page is told all that came since:
// what is older would be much to count.
const watchedFor = 24 * time.Hour

// newWatch reads from a stream's address what its page knows. What cannot be
// read counts from now on.
func newWatch(query url.Values, now time.Time) *watch {
	w := &watch{since: now}
	at, counted, _ := strings.Cut(query.Get(paramSince), ".")
	if micros, err := strconv.ParseInt(at, 10, 64); err == nil && micros > 0 && micros <= now.UnixMicro() {
		w.since = time.UnixMicro(micros)
		if attempts, err := strconv.ParseInt(counted, 10, 64); err == nil {
			w.before = -attempts
		}
	}
	if oldest := now.Add(-watchedFor); w.since.Before(oldest) {
		w.since, w.before = oldest, 0
	}
	if id, err := gateway.ParseID[gateway.EndpointID](query.Get(paramEndpoint)); err == nil {
		w.endpoint = &id
	}
	if id, err := gateway.ParseID[gateway.OperationID](query.Get(paramOperation)); err == nil {
		w.operation = &id
	}
	if id, err := gateway.ParseID[gateway.ReconciliationID](query.Get(paramReconciliation)); err == nil {
		w.reconciliation = &id
	}
	if id, err := gateway.ParseID[gateway.SourceID](query.Get(paramSource)); err == nil {
		w.source = &id
	}
	if drawn, err := strconv.ParseUint(query.Get(paramClaims), 10, 32); err == nil {
		w.ledger = new(uint32(drawn))
	}
	if drawn, err := strconv.ParseUint(query.Get(paramListener), 10, 32); err == nil {
		w.listener = new(uint32(drawn))
	}
	w.anchor = w.since
	return w
}

// stream sends hints until the reader leaves, may not read any more, or the
// process ends.
func stream(v *visit) error {
	leave, ok := v.d.streams.enter(v.person().ID)
	if !ok {
		return problem.New(problem.Overloaded, "This server shows live updates to as many pages as it can.").RetryAfter(recheckEvery)
	}
	defer leave()
	h := v.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	v.Response().WriteHeader(http.StatusOK)
	return v.follow(newWatch(v.QueryParams(), v.now()))
}

// follow looks for news once a second.
func (v *visit) follow(w *watch) error {
	pulse, recheck := time.NewTicker(pulseEvery), time.NewTicker(recheckEvery)
	defer pulse.Stop()
	defer recheck.Stop()
	over := time.NewTimer(streamLife)
	defer over.Stop()
	if err := v.send(": connected\n\n"); err != nil {
		return nil //nolint:nilerr // the reader is gone
	}
	for {
		select {
		case <-v.ctx().Done():
			return nil
		case <-v.d.Stopping:
			return nil
		case <-over.C:
			return nil
		case <-recheck.C:
			if !v.mayStillRead() || v.send(": still here\n\n") != nil {
				return nil
			}
		case <-pulse.C:
			if v.tell(w) != nil {
				return nil
			}
		}
	}
}

// tell sends what is new, if it is more than was told. A database that does
// not answer costs one look; an error is a reader who has left.
func (v *visit) tell(w *watch) error {
	now, err := v.look(w)
	if err != nil || now == w.told {
		return nil //nolint:nilerr // the next look is a second away
	}
	if err := v.send(fmt.Sprintf("data: {\"events\":%d,\"attempts\":%d,\"operation\":%d,\"claims\":%d,\"ledger\":%d}\n\n",
		now.Events, now.Attempts, now.Operation, now.Claims, now.Ledger)); err != nil {
		return err
	}
	w.told = now
	return nil
}

// look counts what came since the page was drawn.
func (v *visit) look(w *watch) (hint, error) {
	first := gateway.FirstIDAt[gateway.EventID](w.since)
	pulse, err := v.d.Store.Pulse(v.ctx(), v.account(), first, w.anchor, w.endpoint)
	if err != nil {
		return hint{}, err
	}
	seen := hint{Events: pulse.Events, Attempts: w.before + pulse.Attempts}
	if seen.Operation, err = v.lookAtOperation(w); err != nil {
		return hint{}, err
	}
	if seen.Claims, seen.Ledger, err = v.lookAtClaims(w); err != nil {
		return hint{}, err
	}
	compared, err := v.lookAtReconciliation(w)
	if err != nil {
		return hint{}, err
	}
	seen.Operation += compared
	listener, err := v.lookAtListener(w)
	if err != nil {
		return hint{}, err
	}
	seen.Operation += listener
	requests, err := v.lookAtRequests(w)
	if err != nil {
		return hint{}, err
	}
	seen.Events += requests
	if now := v.now(); now.Sub(w.anchor) > anchorFor {
		later, err := v.d.Store.Pulse(v.ctx(), v.account(), first, now, w.endpoint)
		if err != nil {
			return hint{}, err
		}
		w.anchor, w.before = now, seen.Attempts-later.Attempts
	}
	return seen, nil
}

// lookAtRequests counts what came to the source since the page was drawn and is
// no event, up to store.MaxNewEvents.
func (v *visit) lookAtRequests(w *watch) (int, error) {
	if w.source == nil {
		return 0, nil
	}
	rows, err := v.d.Store.RequestLines(v.ctx(), v.account(), *w.source, "", store.Page[gateway.RequestID]{Limit: store.MaxNewEvents, Since: w.since})
	return len(rows), err
}

// lookAtClaims counts the keys that are new since the page was drawn, and tells
// how the claims stand that are not done: zero as they did then.
func (v *visit) lookAtClaims(w *watch) (claims int, ledger uint32, err error) {
	if w.ledger == nil {
		return 0, 0, nil
	}
	pulse, err := v.d.Store.ClaimPulse(v.ctx(), v.account(), gateway.FirstIDAt[gateway.ClaimID](w.since))
	if err != nil {
		return 0, 0, err
	}
	if ledger = standing(pulse.Open); ledger == *w.ledger {
		ledger = 0
	}
	return pulse.New, ledger, nil
}

// standing is a number that changes with what it is made of.
func standing(of ...any) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, of...)
	return h.Sum32()
}

// lookAtOperation is a number that changes with the operation, if there is one.
func (v *visit) lookAtOperation(w *watch) (int64, error) {
	if w.operation == nil {
		return 0, nil
	}
	o, err := v.d.Store.Operation(v.ctx(), v.account(), *w.operation)
	switch {
	case isMissing(err):
		return 0, nil
	case err != nil:
		return 0, err
	}
	changes := o.Total + o.Done + o.Failed + o.Restored
	for _, at := range []*time.Time{o.StartedAt, o.FinishedAt, o.SettledAt} {
		if at != nil {
			changes++
		}
	}
	return int64(changes), nil
}

// lookAtReconciliation is a number that changes with the reconciliation, if there
// is one.
func (v *visit) lookAtReconciliation(w *watch) (int64, error) {
	if w.reconciliation == nil {
		return 0, nil
	}
	r, err := v.d.Store.Reconciliation(v.ctx(), v.account(), *w.reconciliation)
	switch {
	case isMissing(err):
		return 0, nil
	case err != nil:
		return 0, err
	}
	changes := r.Rows + r.Faulty + r.Matched + r.Unknown + r.Repeated + r.Ours
	for _, at := range []*time.Time{r.UploadedAt, r.FinishedAt, r.EmptiedAt} {
		if at != nil {
			changes++
		}
	}
	return int64(changes), nil
}

// mayStillRead tells that the session has not ended, and that its person is
// still a member, whom the account asks for no more than they have. A database
// that does not answer is no reason to end.
func (v *visit) mayStillRead() bool {
	session, err := v.d.Accounts.Session(v.ctx(), v.token)
	if err != nil {
		return !errors.Is(err, gateway.ErrNotFound)
	}
	m, err := v.d.Accounts.Member(v.ctx(), v.person().ID, v.Param(accountParam))
	if err != nil {
		return !errors.Is(err, gateway.ErrNotFound)
	}
	v.session = session
	return !v.lacksTwoStep(m)
}

func (v *visit) send(text string) error {
	w := http.NewResponseController(v.Response())
	if err := w.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
		return fmt.Errorf("set deadline: %w", err)
	}
	if _, err := v.Response().Write([]byte(text)); err != nil {
		return fmt.Errorf("write hint: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("send hint: %w", err)
	}
	return nil
}
