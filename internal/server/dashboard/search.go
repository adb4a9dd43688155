package dashboard

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/page"
)

// searchAccount leads to what is called so: an id, then an idempotency key, a
// subject, an event type. Whatever it finds, it finds by an index.
func searchAccount(v *visit) error {
	q := strings.TrimSpace(v.QueryParam("q"))
	to, err := v.find(q)
	if err != nil {
		return err
	}
	if to != "" {
		return v.redirect(to)
	}
	frame, _, err := v.frame("Search", "")
	if err != nil {
		return err
	}
	return v.page(page.SearchPage(page.Search{
		Frame: frame, Action: v.at("search"), Query: q, Events: v.at("events"), Further: address(v.at("events"), paramSearch, q),
		Looked: []string{
			"IDs of events, deliveries, attempts, endpoints, sources, requests and claims of this account",
			"idempotency keys of events", "subjects of events", "event types",
		},
	}))
}

// find is the address of what is called q; empty for nothing.
func (v *visit) find(q string) (string, error) {
	if q == "" {
		return "", nil
	}
	if gateway.LooksLikeID(q) {
		if to, err := v.findID(q); err != nil || to != "" {
			return to, err
		}
	}
	return v.findEvents(q)
}

// findID is the page of the thing with an id, if it is this account's.
func (v *visit) findID(q string) (string, error) {
	prefix, _, _ := strings.Cut(q, "_")
	look, ok := map[string]func(string) (string, error){
		"evt": v.findEvent, "dlv": v.findDelivery, "att": v.findAttempt,
		"ep": v.findEndpoint, "src": v.findSource, "req": v.findRequest, "clm": v.findClaim,
	}[prefix]
	if !ok {
		return "", nil
	}
	to, err := look(q)
	switch {
	case err == nil, errors.Is(err, gateway.ErrExpired): // its page says when that was
		return to, nil
	case isMissing(err):
		return "", nil
	}
	return "", err
}

func (v *visit) findEvent(q string) (string, error) {
	id, err := gateway.ParseID[gateway.EventID](q)
	if err == nil {
		_, err = v.d.Store.Event(v.ctx(), v.account(), id)
	}
	return v.at("events", q), err
}

func (v *visit) findDelivery(q string) (string, error) {
	id, err := gateway.ParseID[gateway.DeliveryID](q)
	if err == nil {
		_, err = v.d.Store.Delivery(v.ctx(), v.account(), id)
	}
	return v.at("deliveries", q), err
}

func (v *visit) findAttempt(q string) (string, error) {
	id, err := gateway.ParseID[gateway.AttemptID](q)
	if err != nil {
		return "", err
	}
	delivery, n, err := gateway.SplitAttemptID(id)
	if err == nil {
		_, err = v.d.Store.Attempt(v.ctx(), v.account(), id)
	}
	return v.attemptHref(delivery, n), err
}

func (v *visit) findEndpoint(q string) (string, error) {
	id, err := gateway.ParseID[gateway.EndpointID](q)
	if err == nil {
		_, err = v.d.Store.Endpoint(v.ctx(), v.account(), id)
	}
	return v.at("endpoints", q), err
}

func (v *visit) findSource(q string) (string, error) {
	id, err := gateway.ParseID[gateway.SourceID](q)
	if err == nil {
		_, err = v.d.Store.Source(v.ctx(), v.account(), id)
	}
	return v.at("sources", q), err
}

func (v *visit) findClaim(q string) (string, error) {
	id, err := gateway.ParseID[gateway.ClaimID](q)
	if err == nil {
		_, err = v.d.Store.Claim(v.ctx(), v.account(), id)
	}
	return v.at("claims", q), err
}

func (v *visit) findRequest(q string) (string, error) {
	id, err := gateway.ParseID[gateway.RequestID](q)
	if err != nil {
		return "", err
	}
	source, err := v.d.Store.RequestSource(v.ctx(), v.account(), id)
	return v.at("sources", source.String(), "requests", q), err
}

// findEvents is the event with a key, or the list of those with a subject or
// of a type.
func (v *visit) findEvents(q string) (string, error) {
	l := v.listing(v.at("events"))
	same, err := v.d.Store.Events(v.ctx(), v.account(), store.EventFilter{Key: []byte(q)}, store.Page[gateway.EventID]{Limit: 2})
	switch {
	case err != nil:
		return "", err
	case len(same) == 1:
		return v.at("events", same[0].ID.String()), nil
	case len(same) > 1: // one of each source
		return l.with("key", q), nil
	case !utf8.ValidString(q) || strings.ContainsRune(q, 0): // no text that the database can hold
		return "", nil
	}
	for _, name := range []string{"subject", "type"} {
		filter := store.EventFilter{Subject: q}
		if name == "type" {
			filter = store.EventFilter{Type: q}
		}
		some, err := v.d.Store.Events(v.ctx(), v.account(), filter, store.Page[gateway.EventID]{Limit: 1})
		if err != nil {
			return "", err
		}
		if len(some) > 0 {
			l.query.Set(paramRange, rangeAll)
			return l.with(name, q), nil
		}
	}
	return "", nil
}
