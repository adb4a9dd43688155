package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// maxConsoleEvents bounds how many events of a request are listed.
const maxConsoleEvents = 20

// showTestConsole is the page on which a source is tried, with a new sample.
func showTestConsole(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	shown := page.SourceConsole{Chosen: map[string]string{}}
	if fault := accept.Fault(v.QueryParam(page.ConsoleFault)); slices.Contains(accept.Faults, fault) {
		shown.Chosen[page.ConsoleFault] = string(fault)
	}
	return v.testConsole(http.StatusOK, s, shown, "")
}

// tryTestConsole tries what the form says, and shows it again with what happened.
func tryTestConsole(v *visit) error {
	s, f, err := v.postedSource()
	if err != nil {
		return err
	}
	trial, touched := consoleTrial(f)
	shown := page.SourceConsole{Chosen: map[string]string{page.ConsoleFault: f.text(page.ConsoleFault)}}
	if touched {
		shown.Chosen[page.ConsoleHeaders], shown.Chosen[page.ConsoleBody] = f.multiline(page.ConsoleHeaders), f.multiline(page.ConsoleBody)
	}
	if f.ok() {
		tried, err := v.d.Accept.Try(v.ctx(), v.account(), v.actor(), s.ID, trial)
		if err == nil {
			if shown.Tried, err = v.consoleTried(s, trial.Fault, tried); err != nil {
				return err
			}
		} else if !f.take(err, consoleFields, nil) {
			return err
		}
	}
	shown.Errors = f.errors
	return v.testConsole(statusOf(f), s, shown, trial.Sample)
}

// consoleFields are the fields under the names that the use case has for them.
var consoleFields = map[string]string{
	"fault": page.ConsoleFault, "headers": page.ConsoleHeaders, "body": page.ConsoleBody,
}

// testConsole draws the page. What nobody has changed of a sample is made anew,
// with the present time.
func (v *visit) testConsole(status int, s gateway.Source, shown page.SourceConsole, name string) error {
	sample, err := v.d.Accept.Sample(v.ctx(), v.account(), s.ID, name)
	if err != nil {
		return err
	}
	if shown.Frame, _, err = v.frame("Test "+s.Name, layout.SectionSources); err != nil {
		return err
	}
	headers, body := headerLines(sample.Header), string(sample.Body)
	chosen := map[string]string{
		page.ConsoleFault: string(accept.FaultNone), page.ConsoleSample: sample.ID, page.ConsoleMade: digest(headers, body),
		page.ConsoleHeaders: headers, page.ConsoleBody: body,
	}
	maps.Copy(chosen, shown.Chosen)
	shown.Chosen = chosen
	for _, fault := range sample.Faults {
		shown.Faults = append(shown.Faults, string(fault))
	}
	if shown.Source, err = v.wholeHead(s); err != nil {
		return err
	}
	shown.Protects, shown.CheckOnly = protects(s), sample.CheckOnly
	return v.render(status, page.SourceConsolePage(shown))
}

// consoleTrial reads the form. It tells whether somebody has changed the sample
// that it was shown with.
func consoleTrial(f form) (t accept.Trial, touched bool) {
	t = accept.Trial{Sample: f.text(page.ConsoleSample), Fault: accept.Fault(f.text(page.ConsoleFault)), Send: f.checked(page.ConsoleSend)}
	if !slices.Contains(accept.Faults, t.Fault) {
		f.wrong(page.ConsoleFault, "Choose one.")
	}
	if len(t.Sample) > 2*len(gateway.SourceID{}) || strings.Trim(t.Sample, "0123456789abcdef") != "" {
		t.Sample = "" // not one of ours: a new one does as well
	}
	headers, body := f.multiline(page.ConsoleHeaders), f.multiline(page.ConsoleBody)
	if touched = t.Sample == "" || digest(headers, body) != f.text(page.ConsoleMade); touched {
		t.Header, t.Body = readHeaders(f, page.ConsoleHeaders, headers), []byte(body)
	}
	return t, touched
}

// multiline is a field of several lines, which browsers end with CR and LF.
func (f form) multiline(name string) string { return strings.ReplaceAll(f.raw(name), "\r\n", "\n") }

// headerLines are headers as they are edited.
func headerLines(h http.Header) string {
	return strings.TrimSuffix(strings.ReplaceAll(string(gateway.EncodeHeaders(h)), "\r\n", "\n"), "\n")
}

// readHeaders reads headers that were edited in a field.
func readHeaders(f form, field, text string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			f.wrong(field, "Write each header on a line of its own, as Name: value.")
			break
		}
		h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return h
}

// digest tells whether a sample was changed.
func digest(headers, body string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(headers) + "\n\n" + body))
	return hex.EncodeToString(sum[:])
}

// consoleTried is what came of a trial, for its page.
func (v *visit) consoleTried(s gateway.Source, fault accept.Fault, t accept.Tried) (*page.ConsoleTrial, error) {
	shown := &page.ConsoleTrial{
		Sent: t.Sent, Fault: string(fault), Method: t.Request.Method, URL: t.Request.URL,
		Headers: page.HeaderList(gateway.EncodeHeaders(t.Request.Header)), Body: t.Request.Body,
		By: string(t.Signing.By), SignedIn: t.Signing.Headers, InBody: t.Signing.InBody, InURL: t.Signing.InURL,
		Status: http.StatusOK,
	}
	if !t.Signing.At.IsZero() {
		shown.SignedAt = &t.Signing.At
	}
	if t.Answer != nil {
		shown.Status, shown.Answer = t.Answer.Status, t.Answer.Body
	}
	if t.Refused != nil {
		why := problem.From(t.Refused)
		shown.Cause, shown.Detail, shown.Status, shown.Answer = string(why.Code), why.Detail, why.Status, ""
		if errors.Is(t.Refused, gateway.ErrRateLimited) {
			shown.Detail = t.Refused.Error()
		}
		var err error
		shown.RequestHref, err = v.refusedJustNow(s, shown.Cause, t.Sent)
		return shown, err
	}
	if t.Verified.Handshake != nil {
		shown.Handshake = t.Verified.Handshake.Detail
	}
	for _, e := range t.Events[:min(len(t.Events), maxConsoleEvents)] {
		event := page.ConsoleEvent{Type: e.Type, Key: component.Visible(e.Key), Duplicate: e.Duplicate}
		if e.ID != nil {
			event.Href = v.at("events", e.ID.String())
		}
		shown.Events = append(shown.Events, event)
	}
	shown.More = len(t.Events) - len(shown.Events)
	return shown, nil
}

// refusedJustNow leads to the newest request that was refused for a cause; to
// the source where it is not kept, as one above its rate.
func (v *visit) refusedJustNow(s gateway.Source, cause string, sent bool) (string, error) {
	at := v.at("sources", s.ID.String())
	if !sent {
		return at, nil
	}
	newest, err := v.d.Store.RequestLines(v.ctx(), v.account(), s.ID, cause, store.Page[gateway.RequestID]{Limit: 1})
	if err != nil || len(newest) == 0 {
		return at, err
	}
	return v.atRequest(s, newest[0].ID), nil
}
