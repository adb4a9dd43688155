package dashboard

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// addRequests adds a part of the list of requests that became no event.
func (v *visit) addRequests(view *page.Source, s gateway.Source) error {
	causes := causesOf(view, s)
	l := v.listing(view.Path, paramCause)
	if cause := l.get(paramCause); slices.Contains(causes, cause) {
		view.Cause = cause
	}
	view.Causes = []component.Choice{{Text: "All", Href: l.with(paramCause), Current: view.Cause == ""}}
	for _, cause := range causes {
		view.Causes = append(view.Causes, component.Choice{
			Text: view.Kind.CauseWord(cause), Href: l.with(paramCause, cause), Current: view.Cause == cause,
		})
	}
	rows, err := v.d.Store.RequestLines(v.ctx(), v.account(), s.ID, view.Cause, asked[gateway.RequestID](l))
	if err != nil {
		return err
	}
	rows, view.Newest, view.Older = shown(l, rows, func(r gateway.Request) string { return r.ID.String() })
	for _, r := range rows {
		view.Requests = append(view.Requests, v.requestRow(s, r))
	}
	return nil
}

func (v *visit) requestRow(s gateway.Source, r gateway.Request) page.RequestRow {
	return page.RequestRow{
		Href: v.atRequest(s, r.ID), Cause: r.Cause, Detail: r.Detail,
		Differs: r.BodyDiffers, Accepted: r.AcceptedAt != nil, Size: r.BodySize, At: r.ID.Time(),
	}
}

// addLatest adds what came while the first event is waited for: the newest
// request, and whether a handshake was answered. The list may show others.
func (v *visit) addLatest(view *page.Source, s gateway.Source) error {
	for _, cause := range []string{"", gateway.CauseHandshake} {
		newest, err := v.d.Store.RequestLines(v.ctx(), v.account(), s.ID, cause, store.Page[gateway.RequestID]{Limit: 1})
		switch {
		case err != nil:
			return err
		case len(newest) == 0:
			return nil
		case cause == "":
			view.Latest = new(v.requestRow(s, newest[0]))
		default:
			view.Greeted = true
		}
	}
	return nil
}

// causesOf are the causes that requests to a source can have: of those that come
// of a setting alone, the ones that it has or that occurred.
func causesOf(view *page.Source, s gateway.Source) []string {
	causes := []string{gateway.CauseDuplicate}
	if view.BuiltIn() {
		return causes
	}
	causes = append(causes, gateway.CauseHandshake)
	if view.Kind.Secret != "" {
		causes = append(causes, signed...)
	}
	chosen, err := settings.Split(s.Settings)
	occurred := func(cause string) bool {
		return slices.ContainsFunc(view.Counts.Rejected, func(c page.CauseCount) bool { return c.Cause == cause })
	}
	if err == nil && len(chosen.Addresses) > 0 || occurred(gateway.CauseAddress) {
		causes = append(causes, gateway.CauseAddress)
	}
	if err == nil && chosen.ReplayGuard > 0 || occurred(gateway.CauseReplay) {
		causes = append(causes, gateway.CauseReplay)
	}
	return causes
}

// showRequest is the page of one request that became no event.
func showRequest(v *visit) error {
	s, err := v.source()
	if err != nil {
		return err
	}
	id, err := gateway.ParseID[gateway.RequestID](v.Param("request"))
	if err != nil {
		return err
	}
	r, err := v.d.Store.Request(v.ctx(), v.account(), s.ID, id)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Request", layout.SectionSources)
	if err != nil {
		return err
	}
	head, err := v.wholeHead(s)
	if err != nil {
		return err
	}
	view := page.SourceRequest{
		Frame: frame, Source: head, Challenge: greets(s, r), Now: v.now(), ID: r.ID, Cause: r.Cause, Detail: r.Detail, Differs: r.BodyDiffers,
		Method: r.Body.Method, Path: string(r.Body.Path), Query: string(r.Body.Query),
		Headers: page.HeaderList(r.Body.Headers), Body: r.Body.Data, Size: r.BodySize, At: r.ID.Time(),
		Href: v.atRequest(s, r.ID), Header: r.Header, Answered: r.Answered, Sender: r.Sender, AcceptedAt: r.AcceptedAt, Manages: v.manages(),
	}
	if r.SkewMS != nil {
		view.Skew = new(time.Duration(*r.SkewMS) * time.Millisecond)
	}
	if r.AcceptedAt != nil {
		if view.AcceptedBy, view.Reason, err = v.acceptedBy(r.ID); err != nil {
			return err
		}
	}
	if view.Body, err = v.masked(s, r.Body.Data); err != nil {
		return err
	}
	if r.EventID != nil {
		view.EventHref = v.at("events", r.EventID.String())
	}
	return v.page(page.SourceRequestPage(view))
}

// masked is a body without the source's secrets, where these come in it: a
// request can be refused for something else, and be shown to who must not learn
// them. It stays as long as it is.
func (v *visit) masked(s gateway.Source, body []byte) ([]byte, error) {
	if !kindOf(s.Kind).Bare {
		return body, nil
	}
	secrets, err := v.d.Store.SourceSecrets(v.ctx(), v.account(), s.ID)
	for _, one := range secrets {
		written, _ := json.Marshal(one.Value) // texts can be written
		for _, text := range [][]byte{[]byte(one.Value), bytes.Trim(written, `"`)} {
			if len(text) > 0 {
				body = bytes.ReplaceAll(body, text, bytes.Repeat([]byte("*"), len(text)))
			}
		}
	}
	return body, err
}

// greets tells that a request could be no event of the source, whatever was
// answered.
func greets(s gateway.Source, r gateway.Request) bool {
	scheme, known := signature.Lookup(s.Kind)
	chosen, err := settings.Split(s.Settings)
	return known && err == nil && scheme.Greets(signature.Request{
		Method: r.Body.Method, Query: string(r.Body.Query), Header: gateway.DecodeHeaders(r.Body.Headers), Body: r.Body.Data, Now: r.ID.Time(),
	}, chosen.Scheme)
}

// acceptedBy is who accepted a refused request, and why if it was not proven.
func (v *visit) acceptedBy(id gateway.RequestID) (who, reason string, err error) {
	acts, err := v.d.Store.AuditOf(v.ctx(), v.account(), []string{id.String()}, 1)
	if err != nil || len(acts) == 0 {
		return "", "", err
	}
	return whoActed(acts[0]), acts[0].Detail, nil
}
