package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// readJSON reads and decodes a body of our own form.
func readJSON[B any](request *http.Request, r route) (into B, err error) {
	limit := r.maxBody
	if limit == 0 {
		limit = maxJSON
	}
	text, err := body.Read(request, limit)
	if err != nil {
		return into, err
	}
	if len(text) == 0 && r.optional {
		return into, nil
	}
	into, err = strictjson.Decode[B](text)
	return into, jsonProblem(err, "body")
}

// jsonProblem says what is wrong with a document that stands at a place in the
// request.
func jsonProblem(err error, at string) error {
	if err == nil {
		return nil
	}
	if syntax, ok := errors.AsType[*strictjson.SyntaxError](err); ok {
		return problem.New(problem.InvalidJSON, "It is "+syntax.Error()+".")
	}
	if faults, ok := errors.AsType[strictjson.Faults](err); ok {
		told := make([]problem.Fault, len(faults))
		for i, f := range faults {
			told[i] = problem.Fault{Message: f.Detail, Location: within(at, f.Path)}
		}
		return problem.New(problem.Invalid, "", told...)
	}
	for _, known := range []error{strictjson.ErrNotObject, strictjson.ErrNotArray, strictjson.ErrTooMany} {
		if errors.Is(err, known) {
			return problem.At(at, "%s", known)
		}
	}
	return err
}

func within(at, path string) string {
	if path == "" {
		return at
	}
	return at + "." + path
}

// duration reads a duration as Go writes it: 10s, 1m30s, 24h.
func duration(text, location string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, problem.At(location, "want a duration such as 10s, 1m30s or 24h")
	}
	return d, nil
}

// durations reads a list of them.
func durations(texts []string, location string) ([]time.Duration, error) {
	out := make([]time.Duration, len(texts))
	for i, text := range texts {
		d, err := duration(text, location)
		if err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

// optionalDuration is nil for a duration that was left out.
func optionalDuration(text *string, location string) (*time.Duration, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // left out
	}
	d, err := duration(*text, location)
	return &d, err
}
