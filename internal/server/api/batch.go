package api

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/problem"
)

const (
	// maxBatchBytes is the largest request with several events.
	maxBatchBytes = 16 << 20
	// maxBatchEvents is how many events one request may hold.
	maxBatchEvents = 1000
)

// batchBody is for the documentation, as publishBody.
type batchBody struct {
	Events []publishBody `json:"events" maxItems:"1000" nullable:"false" doc:"Each stands alone: one that is refused costs the others nothing."`
}

// batchItemView is what became of one event: its id, or why there is none.
type batchItemView struct {
	ID        *gateway.EventID `json:"id,omitempty" doc:"Left out when the event was refused."`
	Duplicate *bool            `json:"duplicate,omitempty"`
	Error     *problem.Problem `json:"error,omitempty" doc:"Left out when the event was accepted."`
}

type batchView struct {
	Results []batchItemView `json:"results" nullable:"false" doc:"One for each event, in their order."`
}

type batchReply struct{ Body batchView }

func (a *API) publishBatch(ctx context.Context, who caller, _ *nothing, sent raw) (*batchReply, error) {
	if len(sent.header.Values(headerKey)) > 0 {
		return nil, problem.At(headerKeyPlace, "does not go with several events: give each event its own key")
	}
	items, err := batchItems(sent.body)
	if err != nil {
		return nil, err
	}
	results := make([]accept.PublishResult, len(items))
	var events []accept.PublishInput
	var places []int
	for i, item := range items {
		event, err := a.parseEvent(item, itemPlace(i))
		if err != nil {
			results[i].Err = err
			continue
		}
		events, places = append(events, event), append(places, i)
	}
	for i, result := range a.Accept.PublishBatch(ctx, who.account(), who.key, events) {
		results[places[i]] = result
	}
	return a.batchReply(ctx, results)
}

// batchItems takes a batch apart, down to the texts of its events.
func batchItems(sent []byte) ([][]byte, error) {
	members, err := strictjson.Members(sent, maxFields)
	if err != nil {
		return nil, jsonProblem(err, "body")
	}
	var events []byte
	for _, m := range members {
		name, err := strictjson.Text(m.Name)
		if err != nil || name != "events" {
			return nil, problem.At(within("body", strictjson.SafeName(name)), "unknown field; known here: events")
		}
		if events != nil {
			return nil, problem.At("body.events", "comes more than once")
		}
		events = m.Value
	}
	if events == nil {
		return nil, problem.At("body.events", "is required")
	}
	items, err := strictjson.Elements(events, maxBatchEvents)
	if errors.Is(err, strictjson.ErrTooMany) {
		return nil, problem.New(problem.TooManyEvents, "")
	}
	if err != nil {
		return nil, jsonProblem(err, "body.events")
	}
	return items, nil
}

// batchReply tells what became of each event. A batch of which nothing was
// stored because nothing could be is refused as a whole, so that a client that
// looks at the status alone tries again.
func (a *API) batchReply(ctx context.Context, results []accept.PublishResult) (*batchReply, error) {
	if err := allTemporary(results); err != nil {
		return nil, err
	}
	view := batchView{Results: make([]batchItemView, len(results))}
	for i, r := range results {
		if r.Err != nil {
			view.Results[i] = batchItemView{Error: a.problemOf(ctx, publishMany, problem.Locate(r.Err, inItem(i)))}
			continue
		}
		a.countAccepted(r.Duplicate)
		view.Results[i] = batchItemView{ID: &r.ID, Duplicate: &r.Duplicate}
	}
	return &batchReply{view}, nil
}

// inItem is where the fields of an event of a batch stand.
func inItem(i int) func(field string) string {
	return func(field string) string { return within(itemPlace(i), field) }
}

// allTemporary returns the reason if no event was stored and at least one
// could be sent again as it is.
func allTemporary(results []accept.PublishResult) (reason error) {
	for _, r := range results {
		if r.Err == nil {
			return nil
		}
		if accept.IsTemporary(r.Err) {
			reason = r.Err
		}
	}
	return reason
}
