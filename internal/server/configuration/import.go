package configuration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// Outcome is what became of an object of a document.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "created"
	Changed   Outcome = "changed"
	Unchanged Outcome = "unchanged"
	Refused   Outcome = "refused"
)

// Result is what became of one object.
type Result struct {
	Kind Kind `json:"kind" enum:"event_type,source,endpoint"`
	// Name is the object's uid, or a type's name; empty where it has none.
	Name string `json:"name" example:"billing" doc:"Its uid, or the name of an event type."`
	// ID is empty for a type, and for what is not there.
	ID      string          `json:"id,omitempty" example:"ep_06h1m3v9c8x7k2q5n4t6w8y0za" doc:"Left out of event types, and of what is not there."`
	Outcome Outcome         `json:"outcome" enum:"created,changed,unchanged,refused"`
	Changes []string        `json:"changes,omitempty" nullable:"false" example:"[\"url\"]" doc:"The fields that differed."`
	Notes   []string        `json:"notes,omitempty" nullable:"false" doc:"What is left to be done."`
	Errors  []problem.Fault `json:"errors,omitempty" nullable:"false" doc:"Why it was refused."`
}

// Report is what became of a document.
type Report struct {
	// DryRun tells that nothing was changed: it is what would become of it.
	DryRun bool
	// Results are in the order of the document: types, sources, endpoints.
	Results []Result
}

// Count is how many objects had an outcome.
func (r Report) Count(outcome Outcome) (n int) {
	for _, result := range r.Results {
		if result.Outcome == outcome {
			n++
		}
	}
	return n
}

// run is one import under way.
type run struct {
	Service

	account gateway.AccountID
	actor   gateway.Actor
	dry     bool
	// seen are the names that came, by kind: one that comes twice would be
	// changed each time.
	seen map[Kind]map[string]bool
	// plan is what a dry run has come to; nil where everything is done.
	plan *plan
}

// Import makes what a document names and the account does not have, and changes
// what differs. What is equal is left alone, and nothing is deleted. Each object
// stands alone, as in a batch of events: one that is wrong is told of, and the
// others come in. To import all or nothing, look at a dry run first: after it,
// only what others changed meanwhile can be refused.
// Errors are those of reading the document as a whole, and of the database:
// what was done until then stays, and the same document goes on from there.
func (s Service) Import(ctx context.Context, account gateway.AccountID, actor gateway.Actor, text []byte, dryRun bool) (Report, error) {
	doc, err := read(text)
	if err != nil {
		return Report{}, err
	}
	r := &run{
		Service: s, account: account, actor: actor, dry: dryRun,
		seen: map[Kind]map[string]bool{KindEventType: {}, KindSource: {}, KindEndpoint: {}},
	}
	if dryRun {
		if r.plan, err = s.planFrom(ctx, account); err != nil {
			return Report{}, err
		}
	}
	report := Report{DryRun: dryRun, Results: []Result{}}
	for _, part := range []func(context.Context, received) ([]Result, error){r.types, r.sources, r.endpoints} {
		results, err := part(ctx, doc)
		if err != nil {
			return Report{}, err
		}
		report.Results = append(report.Results, results...)
	}
	return report, nil
}

func read(text []byte) (received, error) {
	doc, err := strictjson.Decode[received](text)
	if err != nil {
		return doc, faultsOf(err, "body")
	}
	if doc.Version == nil || *doc.Version != Version {
		return doc, problem.At("body.version", "want %d", Version)
	}
	return doc, nil
}

// faultsOf says what is wrong with a document that stands at a place.
func faultsOf(err error, place string) *problem.Problem {
	if syntax, ok := errors.AsType[*strictjson.SyntaxError](err); ok {
		return problem.New(problem.InvalidJSON, "It is "+syntax.Error()+".")
	}
	faults, ok := errors.AsType[strictjson.Faults](err)
	if !ok {
		return problem.At(place, "%s", err)
	}
	told := make([]problem.Fault, len(faults))
	for i, f := range faults {
		told[i] = problem.Fault{Message: f.Detail, Location: strings.TrimSuffix(place+"."+f.Path, ".")}
	}
	return problem.New(problem.Invalid, "", told...)
}

// wish is one object of a document, read.
type wish[B any] struct {
	Result

	body B
	// place is where it stands in the document.
	place string
}

// wishes reads a list of objects. Those that cannot be read are refused.
func wishes[B any](r *run, kind Kind, list string, objects []json.RawMessage, name func(B) string) []wish[B] {
	all := make([]wish[B], len(objects))
	for i, text := range objects {
		w := &all[i]
		w.Kind, w.place = kind, fmt.Sprintf("body.%s[%d]", list, i)
		body, err := strictjson.Decode[B](text)
		if err != nil {
			w.refuse(faultsOf(err, w.place))
			continue
		}
		w.body, w.Name = body, name(body)
		called := w.place + ".uid"
		if kind == KindEventType {
			called = w.place + ".name"
		}
		switch {
		case w.Name == "":
			w.refuse(problem.At(called, "is missing: it is by what a second import finds the same object"))
		case r.seen[kind][w.Name]:
			w.refuse(problem.At(called, "stands in the document twice"))
		}
		r.seen[kind][w.Name] = true
	}
	return all
}

// refuse notes why an object is refused.
func (w *wish[B]) refuse(p *problem.Problem) {
	w.Outcome, w.Changes, w.Notes = Refused, nil, nil
	w.Errors = p.Errors
	if len(w.Errors) == 0 {
		w.Errors = []problem.Fault{{Message: cmp.Or(p.Detail, p.Title), Location: w.place}}
	}
	for i, f := range w.Errors {
		if inside, ok := strings.CutPrefix(f.Location, "body."); ok && !strings.HasPrefix(f.Location, w.place) {
			w.Errors[i].Location = w.place + "." + inside
		}
	}
}

// results are what became of the wishes.
func results[B any](wishes []wish[B]) []Result {
	all := make([]Result, len(wishes))
	for i, w := range wishes {
		all[i] = w.Result
	}
	return all
}

// each grants the wishes that were not refused.
func each[B any](wishes []wish[B], grant func(*wish[B]) error) ([]Result, error) {
	for i := range wishes {
		if w := &wishes[i]; w.Outcome == "" {
			if err := w.settle(grant(w)); err != nil {
				return nil, err
			}
		}
	}
	return results(wishes), nil
}

// settle refuses a wish for an error of its own, and returns another one.
func (w *wish[B]) settle(err error) error {
	if err == nil {
		return nil
	}
	p := problem.From(err)
	if p.Status >= http.StatusInternalServerError {
		return err
	}
	w.refuse(p)
	return nil
}

// is notes what became of an object that was there.
func (w *wish[B]) is(id string, changes []string) {
	w.ID, w.Changes, w.Outcome = id, changes, Unchanged
	if len(changes) > 0 {
		w.Outcome = Changed
	}
}

// turns tells that something is to be paused, or resumed.
func turns(wanted *bool, paused bool) bool { return wanted != nil && *wanted != paused }
