package dashboard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// noRetries is what one enters for a single attempt.
const noRetries = "none"

// typePatterns are the event types, one a line. What is wrong is told by its
// line.
func (f form) typePatterns() *[]string {
	patterns := []string{}
	line := 0
	for text := range strings.Lines(f.raw(page.EndpointEventTypes)) {
		line++
		for _, pattern := range splitList(text) {
			if gateway.CheckTypePattern(pattern) != nil {
				f.wrong(page.EndpointEventTypes, fmt.Sprintf("Line %d is no event type: write order.created, order.* or *.", line))
			}
			patterns = append(patterns, pattern)
		}
	}
	return &patterns
}

// splitList parts what is written with commas or white space between.
func splitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

// enteredHeaders are the rows in which something was entered.
func enteredHeaders(f form) []page.EndpointHeader {
	names, values := f.all(page.EndpointHeaderName), f.all(page.EndpointHeaderValue)
	var rows []page.EndpointHeader
	for i := range min(len(names), len(values)) {
		row := page.EndpointHeader{Name: strings.TrimSpace(names[i]), Value: strings.TrimSpace(values[i])}
		if row.Name != "" || row.Value != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// ownHeaders are the headers by their names. What is wrong with one is told
// beside its row.
func (f form) ownHeaders(rows []page.EndpointHeader) *map[string]string {
	headers := make(map[string]string, len(rows))
	for n, row := range rows {
		if row.Name == "" {
			f.wrong(page.EndpointHeaderRow(n), "Name the header, or empty its value.")
			continue
		}
		if _, twice := headers[row.Name]; twice {
			f.wrong(page.EndpointHeaderRow(n), "This name is given twice.")
		}
		if wrong, ok := errors.AsType[*gateway.InvalidError](endpoint.CheckHeader(row.Name, row.Value)); ok {
			f.wrong(page.EndpointHeaderRow(n), advice(wrong.Detail))
		}
		headers[row.Name] = row.Value
	}
	return &headers
}

// schedule are the waits between attempts: nil for the server's, none for a
// single attempt.
func (f form) schedule() *[]time.Duration {
	text := f.text(page.EndpointRetrySchedule)
	var waits []time.Duration
	if strings.EqualFold(text, noRetries) {
		waits = []time.Duration{}
		return &waits
	}
	for _, part := range splitList(text) {
		wait, err := time.ParseDuration(part)
		if err != nil {
			f.wrong(page.EndpointRetrySchedule, "Write waits such as 5s, 5m, 1h30m with commas between, or none.")
		}
		waits = append(waits, wait)
	}
	return &waits
}

// timeout is how long one attempt may take; zero is the server's. A zero that
// was entered is none.
func (f form) timeout() *time.Duration {
	var timeout time.Duration
	text := strings.ReplaceAll(f.text(page.EndpointTimeout), " ", "")
	if text == "" {
		return &timeout
	}
	timeout, err := time.ParseDuration(text)
	if err != nil || timeout == 0 {
		f.wrong(page.EndpointTimeout, "Write a length of time from 1s to 1m, such as 10s.")
	}
	return &timeout
}

// maxInFlight is how many requests may be under way at once.
func (f form) maxInFlight() *int {
	most := gateway.DefaultMaxInFlight
	if text := f.text(page.EndpointMaxInFlight); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil {
			most = 1
			f.wrong(page.EndpointMaxInFlight, fmt.Sprintf("Write a number from 1 to %d.", gateway.MaxMaxInFlight))
		}
	}
	return &most
}

// statusCodes are those that end the retries.
func (f form) statusCodes() *[]int {
	codes := []int{}
	for _, text := range splitList(f.text(page.EndpointStopOn)) {
		code, err := strconv.Atoi(text)
		if err != nil {
			f.wrong(page.EndpointStopOn, "Write status codes from 300 to 599 with commas between, such as 400, 404.")
			continue
		}
		codes = append(codes, code)
	}
	return &codes
}

// writtenSchedule writes the waits between attempts as they are entered.
func writtenSchedule(waits []time.Duration) string {
	if len(waits) == 0 {
		return noRetries
	}
	texts := make([]string, len(waits))
	for i, wait := range waits {
		texts[i] = gateway.DurationText(wait)
	}
	return strings.Join(texts, ", ")
}
