package api

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// readBody reads a body as it was sent. One that is encoded, which nothing here
// decodes, is told as what it is and not as broken JSON.
func readBody(request *http.Request, r route) ([]byte, error) {
	if encoding := request.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, problem.New(problem.EncodingRefused, "")
	}
	limit := cmp.Or(r.maxBody, maxJSON)
	text, err := body.Read(request, limit)
	if _, large := errors.AsType[*body.TooLargeError](err); large && r.tooLarge != "" {
		return nil, problem.New(problem.PayloadTooLarge, r.tooLarge)
	}
	if err != nil {
		return nil, err
	}
	if !r.optional && len(bytes.TrimSpace(text)) == 0 {
		return nil, problem.New(problem.InvalidJSON, "The body is empty: send one JSON object.")
	}
	return text, nil
}

// readJSON reads and decodes a body of our own form.
func readJSON[B any](request *http.Request, r route) (into B, err error) {
	text, err := readBody(request, r)
	if err != nil || len(text) == 0 {
		return into, err
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
