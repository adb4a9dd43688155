// Package problem is how every part of the server says no: RFC 9457 documents
// with a stable code, which never repeat what was sent.
package problem

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// ContentType is the media type of a problem.
const ContentType = "application/problem+json"

// docs is where the codes are explained, relative to any address of ours.
const docs = "/api/docs#error-"

// Problem is an answer that is not a success.
type Problem struct {
	Type   string  `json:"type" format:"uri-reference" doc:"Where the code is explained." example:"/api/docs#error-invalid"`
	Title  string  `json:"title" doc:"What the code means; the same for every occurrence." example:"The request is not valid"`
	Status int     `json:"status" doc:"The HTTP status." example:"422"`
	Detail string  `json:"detail,omitempty" doc:"What is wrong this time." example:"url: want an http or https address"`
	Code   Code    `json:"code" doc:"The stable name of the problem." example:"invalid"`
	Errors []Fault `json:"errors,omitempty" nullable:"false" doc:"The single faults, where there are several or one has a place."`

	header http.Header
}

// Fault is one thing that is wrong with a request.
type Fault struct {
	Message  string `json:"message" doc:"What is wrong." example:"want an http or https address"`
	Location string `json:"location,omitempty" doc:"Where, beginning with body, query, path or header." example:"body.url"`
}

// New makes a problem with a code's status and title. Detail may be empty: then
// the first fault, or the code's advice, stands in for it.
func New(code Code, detail string, faults ...Fault) *Problem {
	m, ok := byCode[code]
	if !ok { // a code of a use case that needs no words of its own
		m = byCode[Invalid]
	}
	if detail == "" {
		detail = m.Advice
		if len(faults) > 0 {
			detail = faults[0].text()
		}
	}
	return &Problem{
		Type: docs + string(m.Code), Title: m.Title, Status: m.Status,
		Detail: detail, Code: code, Errors: faults, header: http.Header{},
	}
}

func (f Fault) text() string {
	if f.Location == "" {
		return f.Message
	}
	return f.Location + ": " + f.Message
}

// At makes an Invalid problem of one fault.
func At(location, format string, args ...any) *Problem {
	return New(Invalid, "", Fault{Message: fmt.Sprintf(format, args...), Location: location})
}

// RetryAfter adds when to try again, in whole seconds and at least one.
func (p *Problem) RetryAfter(wait time.Duration) *Problem {
	p.header.Set("Retry-After", strconv.Itoa(seconds(wait)))
	return p
}

// With adds a header.
func (p *Problem) With(name, value string) *Problem {
	p.header.Set(name, value)
	return p
}

func seconds(wait time.Duration) int {
	return max(int((wait+time.Second-1)/time.Second), 1)
}

// Error returns code and detail.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns the headers that belong to the answer.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType returns the media type of a problem, whatever was negotiated.
func (p *Problem) ContentType(string) string { return ContentType }

// Write answers a request with the problem.
func (p *Problem) Write(w http.ResponseWriter) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode problem: %w", err)
	}
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Content-Type", ContentType)
	w.WriteHeader(p.Status)
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write problem: %w", err)
	}
	return nil
}
