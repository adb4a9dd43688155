package dashboard

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// countedHours is the time that the numbers of a source are of.
	countedHours = 24
	// apiEventsPath is where applications publish to.
	apiEventsPath = "/api/v1/events"
)

// source reads the source in the address.
func (v *visit) source() (gateway.Source, error) {
	id, err := gateway.ParseID[gateway.SourceID](v.Param("id"))
	if err != nil {
		return gateway.Source{}, err
	}
	return v.d.Store.Source(v.ctx(), v.account(), id)
}

// changeable is source for what changes it: the one of the API never does.
func (v *visit) changeable() (gateway.Source, error) {
	s, err := v.source()
	if err == nil && s.Kind == gateway.SourceKindAPI {
		err = &Refusal{
			Status: http.StatusConflict, Title: "This source is built in",
			Text: "Your own applications publish through it with API keys. It cannot be changed, paused or deleted.",
		}
	}
	return s, err
}

// postedSource is changeable, and the form that was sent about it.
func (v *visit) postedSource() (gateway.Source, form, error) {
	s, err := v.changeable()
	if err != nil {
		return s, form{}, err
	}
	f, err := v.readForm()
	return s, f, err
}

// sourceHead is what a source is. Its ingest URL is a secret where nothing is
// signed, so that the secret part is for those alone who may see secrets.
func (v *visit) sourceHead(s gateway.Source) page.SourceHead {
	h := page.SourceHead{
		ID: s.ID, Path: v.at("sources", s.ID.String()), Name: s.Name, Kind: kindOfSource(s), State: s.State,
		URL: v.d.BaseURL + gateway.IngestPath + s.Token, PublicURL: choicesOf(s.Settings)[settings.PublicURL],
		Capturing: s.CaptureUntil != nil && s.CaptureUntil.After(v.now()),
	}
	switch {
	case s.Kind == gateway.SourceKindAPI:
		h.URL = v.d.BaseURL + apiEventsPath
	case !v.may(gateway.PermReveal):
		h.URL, h.Hidden = v.d.BaseURL+gateway.IngestPath+"…", true
		h.PublicURL = hiddenURL(h.PublicURL)
	}
	return h
}

// hiddenURL is as much of a public URL as is no secret: its host.
func hiddenURL(public string) string {
	address, err := url.Parse(public)
	if public == "" || err != nil {
		return ""
	}
	return address.Scheme + "://" + address.Host + "/…"
}

// wholeHead is sourceHead with whether it lacks a secret.
func (v *visit) wholeHead(s gateway.Source) (page.SourceHead, error) {
	having, err := v.d.Store.SourcesWithSecret(v.ctx(), v.account(), []gateway.SourceID{s.ID})
	h := v.sourceHead(s)
	h.Bereft = bereft(h, having[s.ID])
	return h, err
}

// bereft tells that a source can prove nothing: it has no secret, and waits for
// none that its provider sends.
func bereft(h page.SourceHead, hasSecret bool) bool {
	return h.Kind.Secret != "" && !hasSecret && !h.Capturing
}

// showSource is the page of one source.
func showSource(v *visit) error {
	s, err := v.source()
	if err != nil {
		return err
	}
	frame, left, err := v.frame(s.Name, layout.SectionSources)
	if err != nil {
		return err
	}
	frame.Live = v.liveOfSource(s.ID)
	head, err := v.wholeHead(s)
	if err != nil {
		return err
	}
	view := page.Source{
		Frame: frame, SourceHead: head, Now: v.now(), CreatedAt: s.CreatedAt, UID: valueOf(s.UID),
		Settings: settingFacts(s, v.may(gateway.PermReveal)), Protects: protects(s), Manages: v.manages(), Operates: v.operates(),
		Rule: s.Rule,
	}
	if view.Counts, err = v.sourceCounts(s.ID); err != nil {
		return err
	}
	view.Waiting = view.Counts.LastEvent == nil && v.now().Sub(s.CreatedAt) < v.d.Retention
	if err := v.addSecrets(&view, s, left); err != nil {
		return err
	}
	if err := v.addRequests(&view, s); err != nil {
		return err
	}
	if view.Waiting {
		if err := v.addLatest(&view, s); err != nil {
			return err
		}
	}
	return v.page(page.SourcePage(view))
}

// protects says what a signature of this source covers.
func protects(s gateway.Source) string {
	scheme, ok := signature.Lookup(s.Kind)
	switch {
	case s.Kind == gateway.SourceKindAPI:
		return "Every call carries an API key with the scope publish."
	case !ok:
		return "This version does not know this kind of source, and refuses its requests."
	}
	chosen, err := settings.Split(s.Settings)
	if err != nil {
		return "The settings cannot be read: every request is refused."
	}
	return scheme.Protects(chosen.Scheme.Raw)
}

// addSecrets adds when the source's secrets began and end, and with that how
// to try it: only who may see the ingest URL can.
func (v *visit) addSecrets(view *page.Source, s gateway.Source, left flash) error {
	secrets, err := v.d.Store.SourceSecrets(v.ctx(), v.account(), s.ID)
	if err != nil {
		return err
	}
	for _, one := range secrets {
		shown := page.SourceSecret{ID: one.ID, Captured: one.Captured, CreatedAt: one.CreatedAt, EndsAt: one.EndsAt}
		if v.may(gateway.PermReveal) && one.Captured {
			shown.Value = left.secretOf(one.ID.String())
		}
		view.Secrets = append(view.Secrets, shown)
	}
	if s.CaptureUntil != nil && s.CaptureUntil.After(v.now()) {
		view.CaptureUntil = s.CaptureUntil
	}
	if !view.Hidden {
		view.Try = tryScript(view.Kind, view.URL)
	}
	return nil
}

// sourceCounts is what one source brought.
func (v *visit) sourceCounts(id gateway.SourceID) (page.SourceCounts, error) {
	counts, err := v.d.Store.SourceCounts(v.ctx(), v.account(), []gateway.SourceID{id}, countedHours, v.now())
	return countsOf(counts[id]), err
}

// countsOf shapes what the store counted, the most common cause first.
func countsOf(c store.SourceCount) page.SourceCounts {
	shown := page.SourceCounts{Received: c.Received, LastEvent: c.LastEventAt, Duplicates: c.Requests[gateway.CauseDuplicate]}
	for _, n := range c.Hours {
		shown.Hours = append(shown.Hours, float64(n))
	}
	for _, cause := range refusals {
		if n := c.Requests[cause]; n > 0 {
			shown.Rejected = append(shown.Rejected, page.CauseCount{Cause: cause, N: n})
		}
	}
	slices.SortStableFunc(shown.Rejected, func(a, b page.CauseCount) int { return b.N - a.N })
	return shown
}

// refusals are the causes for which a request is refused.
var refusals = append(slices.Clone(signed), gateway.CauseAddress, gateway.CauseReplay)

// signed are those that a signature is to blame for.
var signed = []string{signature.CodeMissing, signature.CodeMalformed, signature.CodeMismatch, signature.CodeTimestamp}

// valueOf is what a pointer points at, or the zero value.
func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
