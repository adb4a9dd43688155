package receiver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// sumBytes of the body's SHA-256 are shown: enough to tell bodies apart.
	sumBytes = 6
	// maxShown is how many bytes of a text are shown that a sender chose.
	maxShown = 200
	// timeFormat is UTC, to the millisecond.
	timeFormat = "2006-01-02T15:04:05.000Z"
)

// outcome is what became of a request.
type outcome int

const (
	succeeded outcome = iota // answered 2xx
	failed                   // answered otherwise, because the options say so
	refused                  // did not verify, or did not arrive whole
	abandoned                // nobody waited for the answer any more
)

// Counts are the requests so far, by what became of them.
type Counts struct {
	// Succeeded were answered 2xx.
	Succeeded int
	// Failed were answered otherwise, because the options say so.
	Failed int
	// Refused did not verify, or did not arrive whole.
	Refused int
	// Abandoned got no answer: the sender hung up, or the receiver stopped.
	Abandoned int
}

// Total is the number of requests.
func (c Counts) Total() int { return c.Succeeded + c.Failed + c.Refused + c.Abandoned }

// String is the closing line of a run.
func (c Counts) String() string {
	return fmt.Sprintf("requests %d: succeeded %d, failed %d, refused %d, abandoned %d", c.Total(), c.Succeeded, c.Failed, c.Refused, c.Abandoned)
}

func (c *Counts) add(o outcome) {
	switch o {
	case succeeded:
		c.Succeeded++
	case failed:
		c.Failed++
	case refused:
		c.Refused++
	case abandoned:
		c.Abandoned++
	}
}

// Counts returns the requests so far.
func (r *Receiver) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// record counts a request and prints its line. A line that cannot be printed
// is no reason to answer differently.
func (r *Receiver) record(a arrival, reply answer) {
	text := line(a, reply)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.add(reply.outcome)
	_, _ = fmt.Fprintln(r.options.Out, text)
}

// line tells all about one request in one line.
func line(a arrival, reply answer) string {
	sum := sha256.Sum256(a.body)
	status := strconv.Itoa(reply.status)
	if reply.outcome == abandoned {
		status = "none"
	}
	h := a.request.Header
	return strings.Join([]string{
		a.at.UTC().Format(timeFormat),
		shown(a.request.Method),
		shown(a.request.URL.RequestURI()),
		"id=" + shown(h.Get("Webhook-Id")),
		"type=" + shown(h.Get("Rowlock-Event-Type")),
		"attempt=" + shown(h.Get("Rowlock-Attempt")),
		"bytes=" + strconv.Itoa(len(a.body)),
		"verified=" + string(a.verdict),
		"answer=" + status,
		"sha256=" + hex.EncodeToString(sum[:sumBytes]),
	}, " ")
}

// shown makes a text of the sender's fit for a terminal and for a line of
// fields: cut when long, and quoted when it holds white space, quotes, control
// characters or those that turn the direction of text. Absent is "-".
func shown(text string) string {
	if text == "" {
		return "-"
	}
	cut := text
	if len(cut) > maxShown {
		cut = cut[:maxShown]
		for len(cut) > 0 && !utf8.RuneStart(text[len(cut)]) {
			cut = cut[:len(cut)-1]
		}
	}
	if quoted := strconv.Quote(cut); quoted != `"`+cut+`"` || strings.Contains(cut, " ") {
		cut = quoted
	}
	if len(text) > maxShown {
		cut += "…"
	}
	return cut
}
