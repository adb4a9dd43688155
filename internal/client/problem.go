package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// errNotRowlock is the cause when a 2xx answer is not what the API gives.
var errNotRowlock = errors.New("its answer is not one of Rowlock's")

// maxDetails is how many of a problem's single errors are shown.
const maxDetails = 5

// Problem is an answer of the API that is not a success (RFC 9457). What the
// server says is kept as it came; Error makes it fit to be shown.
type Problem struct {
	// Status is the HTTP status.
	Status int `json:"-"`
	// RetryAfter is the Retry-After header as it came; empty when absent.
	RetryAfter string `json:"-"`
	// Location is where a redirect points; empty for other answers.
	Location string `json:"-"`
	// Code is the API's stable name of the problem; empty when the answer did
	// not come from the API.
	Code string `json:"code"`
	// Title and Detail say what is wrong, to people.
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// Errors are the single faults, where there are several.
	Errors []ProblemDetail `json:"errors"`
}

// ProblemDetail is one fault of a request.
type ProblemDetail struct {
	// Message says what is wrong.
	Message string `json:"message"`
	// Location says where, for example body.type; it may be empty.
	Location string `json:"location"`
}

// problemFrom reads a refusal. An answer that is no problem document (a proxy's
// error page, say) leaves the texts empty.
func problemFrom(resp *http.Response, body []byte) *Problem {
	var p Problem
	if err := json.Unmarshal(body, &p); err != nil {
		p = Problem{}
	}
	p.Status = resp.StatusCode
	p.RetryAfter = resp.Header.Get("Retry-After")
	if resp.StatusCode/100 == 3 {
		p.Location = resp.Header.Get("Location")
	}
	return &p
}

// Error is one sentence: status, what is wrong, where, and the code.
func (p *Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the server answered %d", p.Status)
	if text := p.summary(); text != "" {
		b.WriteString(": " + text)
	}
	faults := p.faults()
	for i, text := range faults {
		if i == maxDetails {
			fmt.Fprintf(&b, "; and %d more", len(faults)-i)
			break
		}
		b.WriteString("; " + text)
	}
	if p.Code != "" {
		b.WriteString(" (" + p.Code + ")")
	}
	return visible(b.String())
}

// summary is the most telling text there is.
func (p *Problem) summary() string {
	switch {
	case p.Detail != "":
		return strings.TrimSuffix(p.Detail, ".")
	case p.Title != "":
		return p.Title
	default:
		return http.StatusText(p.Status)
	}
}

// faults are the texts of the single faults, each once; the detail often is one
// of them.
func (p *Problem) faults() []string {
	told := []string{p.summary()}
	for _, e := range p.Errors {
		if text := strings.TrimSuffix(e.text(), "."); !slices.Contains(told, text) {
			told = append(told, text)
		}
	}
	return told[1:]
}

func (e ProblemDetail) text() string {
	if e.Location == "" {
		return e.Message
	}
	return e.Location + ": " + e.Message
}

// Hint says what to do; empty where the sentence itself says it.
func (p *Problem) Hint() string {
	switch {
	case p.Location != "":
		return visible("Set " + ServerVariable + " to the address it redirects to: " + p.Location)
	case p.Code == "":
		return p.hintForStranger()
	case p.Code == "idempotency_key_reused":
		return "The key stands for another event already: use a new --key, or send exactly what was sent with it first."
	case p.Code == "scope_missing":
		return "Use an API key that has the scope: publish to send, manage to listen."
	case p.Code == "listener_connected":
		return "Stop the other one, or choose an endpoint of your own with --endpoint. One that was killed counts as connected for 15 seconds: then try again."
	case p.Code == "endpoint_has_address":
		return "The endpoint of this uid is sent to at its URL: choose another with --endpoint."
	case p.Code == "storage_full":
		return "Nothing was stored: delete payloads, wait until old ones are past their retention, or have ROWLOCK_ACCOUNT_STORED_BYTES raised."
	case p.Code == "type_reserved":
		return "Types that begin with rowlock. are Rowlock's own: choose another."
	}
	return p.hintForStatus()
}

// hintForStranger is for answers that carry no code.
func (p *Problem) hintForStranger() string {
	if p.Status >= http.StatusInternalServerError || p.Status == http.StatusTooManyRequests {
		return p.hintForStatus()
	}
	return "The answer does not come from Rowlock's API: check " + ServerVariable + "."
}

func (p *Problem) hintForStatus() string {
	switch p.Status {
	case http.StatusUnauthorized:
		return "Check " + KeyVariable + ": the key is unknown to this server, or was revoked."
	case http.StatusRequestEntityTooLarge:
		return "Send less: put large things elsewhere and their address into the data. The server's limit is ROWLOCK_MAX_BODY."
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "Nothing was stored. Try again" + p.wait() + "."
	}
	if p.Status >= http.StatusInternalServerError {
		return "Try again; with --key a repeat cannot make a second event. The server's log says more."
	}
	return ""
}

func (p *Problem) wait() string {
	seconds, err := strconv.Atoi(p.RetryAfter)
	switch {
	case err != nil || seconds < 0:
		return " in a moment"
	case seconds == 1:
		return " in 1 second"
	default:
		return fmt.Sprintf(" in %d seconds", seconds)
	}
}

// CallError is a call that got no answer, or none that can be understood.
type CallError struct {
	// Server is the server's address.
	Server string
	// Cause is what went wrong.
	Cause error
}

// Error names the server and the cause.
func (e *CallError) Error() string {
	return visible(fmt.Sprintf("call %s: %s", e.Server, e.Cause))
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Cause }

// Hint says what to look at.
func (e *CallError) Hint() string {
	if errors.Is(e.Cause, errNotRowlock) {
		return "Check " + ServerVariable + ": it should be the address of a Rowlock server."
	}
	return "Is the server running (`rowlock serve`) and is " + ServerVariable + " its address? If the answer got lost on the way, sending again with the same --key makes no second event."
}

// visible spells out what a terminal would obey instead of show: control
// characters, and those that change the direction of text.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
