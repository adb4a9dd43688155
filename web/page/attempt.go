package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// Attempt is one try of a delivery: what was sent, and what came back.
type Attempt struct {
	// ID is the attempt's; links lead to it.
	ID string
	// Name says of which delivery it is, such as its endpoint.
	Name string
	N    int
	// Code is the answer's status; zero when none came, and Failure says why
	// in a word or two.
	Code    int
	Failure string
	Tone    component.Tone
	// Trigger says what started it; empty for the schedule.
	Trigger string
	// Detail says in words what went wrong.
	Detail    string
	StartedAt time.Time
	Took      time.Duration
	Timing    component.Timing
	// Answered tells that an answer came.
	Answered          bool
	Request, Response []component.Header
	// Body is what is shown of the answer's body. Whole leads to all that is
	// kept of it; empty when this is all.
	Body  []byte
	Whole string
	// Curl is a command that sends the same request, without secrets; empty
	// when there is nothing to send.
	Curl string
	// Sign is where it is signed afresh; empty where the reader may not have
	// that. Signed tells that it was just now.
	Sign   string
	Signed bool
	// File is the payload that the command reads, and where it is; empty when
	// it stands in the command.
	File, FileHref string
	// Next says what followed: "next in 5 s".
	Next string
	Open bool
}

// line is the attempt as one line, which opens to the rest.
func (a Attempt) line() component.Attempt {
	return component.Attempt{
		ID: a.ID, Name: a.Name, Number: a.N, Code: a.Code, Failure: a.Failure, FailureTone: a.Tone,
		Next: a.Next, Took: a.Took, Open: a.Open,
	}
}

// panels are the answer, the request, and the command that sends it once more,
// which comes first when somebody has just had it signed.
func (a Attempt) panels() []component.Panel {
	panels := []component.Panel{{Title: "Request", Body: component.Headers(a.Request)}}
	if a.Answered {
		panels = append([]component.Panel{{Title: "Response", Body: attemptResponse(a)}}, panels...)
	}
	command := component.Panel{Title: "cURL", Body: attemptCommand(a)}
	switch {
	case a.Signed:
		panels = append([]component.Panel{command}, panels...)
	case a.Curl != "":
		panels = append(panels, command)
	}
	return panels
}

// toFillIn tells that a secret was left out of the command.
func (a Attempt) toFillIn() bool { return strings.Contains(a.Curl, gateway.Redacted) }

// tabsID is unique on the page.
func (a Attempt) tabsID() string { return a.ID + "-" + strconv.Itoa(a.N) }
