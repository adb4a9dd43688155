package dashboard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// shownCards and shownRows bound the page: who has more failures of more
	// kinds begins with these.
	shownCards, shownRows = 30, 10

	paramGroup   = "group"
	groupByCause = "cause"
	// paramCause narrows a list to one cause.
	paramCause = "cause"
)

// failureRanges are the times of events that the page can be narrowed to.
var failureRanges = []struct {
	name, text string
	length     time.Duration
}{
	{"24h", "24 hours", 24 * time.Hour},
	{"7d", "7 days", 7 * 24 * time.Hour},
	{"", "All time", 0},
}

// showFailures is the page of what was given up, grouped by endpoint or cause.
func showFailures(v *visit) error {
	f, l := store.FailureFilter{}, v.listing(v.at("failures"), paramGroup)
	for _, r := range failureRanges {
		if r.length > 0 && r.name == l.get(paramSince) {
			f.Since = v.now().Add(-r.length)
		}
	}
	groups, more, err := v.d.Store.Failures(v.ctx(), v.account(), f)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Failures", layout.SectionFailures)
	if err != nil {
		return err
	}
	frame.Live = v.live()
	view := page.Failures{
		Frame: frame, Now: v.now(), More: more, Narrowed: !f.Since.IsZero(), ByCause: l.get(paramGroup) == groupByCause,
	}
	l.addFailureViews(&view)
	if err := v.addTotals(&view); err != nil {
		return err
	}
	addUp(&view, groups)
	view.Cards, view.Hidden = v.failureCards(groups, view.ByCause)
	if err := v.addDetails(&view); err != nil {
		return err
	}
	return v.page(page.FailuresPage(view))
}

// addFailureViews adds the links that group and narrow.
func (l listing) addFailureViews(view *page.Failures) {
	view.Groups = []component.Choice{
		{Text: "By endpoint", Href: l.with(paramGroup), Current: !view.ByCause},
		{Text: "By cause", Href: l.with(paramGroup, groupByCause), Current: view.ByCause},
	}
	for _, r := range failureRanges {
		current := r.name == l.get(paramSince) || r.length == 0 && !view.Narrowed
		view.Ranges = append(view.Ranges, component.Choice{Text: r.text, Href: l.with(paramSince, r.name), Current: current})
	}
}

// addTotals adds how many deliveries ended in the last 24 hours, and in the 24
// before.
func (v *visit) addTotals(view *page.Failures) error {
	const quarter = 15 * time.Minute
	today := store.LastSteps(v.now(), int(24*time.Hour/quarter), quarter)
	now, err := v.d.Store.Totals(v.ctx(), v.account(), nil, today)
	if err != nil {
		return err
	}
	before, err := v.d.Store.Totals(v.ctx(), v.account(), nil, today.Before())
	view.Today, view.Yesterday, view.Sent = now.GaveUp, before.GaveUp, now.Succeeded
	return err
}

// addUp adds the numbers of all groups together.
func addUp(view *page.Failures, groups []store.FailureGroup) {
	endpoints := map[gateway.EndpointID]bool{}
	for i := range groups {
		g := &groups[i]
		view.Failed += g.Count
		endpoints[g.EndpointID] = true
		if view.Oldest == nil || g.First.Before(*view.Oldest) {
			view.Oldest = &g.First
		}
	}
	view.Endpoints = len(endpoints)
}

// failureCards puts groups of one endpoint, or of one cause, together: those
// that failed last first. hidden is how many cards are left out.
func (v *visit) failureCards(groups []store.FailureGroup, byCause bool) (cards []page.FailureCard, hidden int) {
	type key struct {
		endpoint gateway.EndpointID
		cause    gateway.Cause
	}
	index := map[key]int{}
	for _, g := range groups {
		k := key{endpoint: g.EndpointID}
		if byCause {
			k = key{cause: g.Cause}
		}
		n, ok := index[k]
		if !ok {
			n = len(cards)
			index[k] = n
			cards = append(cards, page.FailureCard{Cause: g.Cause, Endpoint: v.failedEndpoint(g.EndpointID, g.Endpoint)})
		}
		card := &cards[n]
		card.Count += g.Count
		card.Last = latest(card.Last, g.Last)
		card.Rows = append(card.Rows, v.failureRow(g))
	}
	slices.SortStableFunc(cards, func(a, b page.FailureCard) int { return b.Last.Compare(a.Last) })
	if len(cards) > shownCards {
		cards, hidden = cards[:shownCards], len(cards)-shownCards
	}
	for i := range cards {
		cutRows(&cards[i])
	}
	return cards, hidden
}

// cutRows keeps the rows that failed last.
func cutRows(card *page.FailureCard) {
	slices.SortStableFunc(card.Rows, func(a, b page.FailureRow) int { return b.Last.Compare(a.Last) })
	if len(card.Rows) > shownRows {
		card.Hidden = len(card.Rows) - shownRows
		card.Rows = card.Rows[:shownRows]
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (v *visit) failureRow(g store.FailureGroup) page.FailureRow {
	return page.FailureRow{
		Endpoint: v.failedEndpoint(g.EndpointID, g.Endpoint), Cause: g.Cause, Count: g.Count, First: g.First, Last: g.Last,
		Newest: g.LastDelivery, Href: address(v.at("failures", g.EndpointID.String()), paramCause, causeParam(g.Cause)),
	}
}

func (v *visit) failedEndpoint(id gateway.EndpointID, label store.EndpointLabel) page.FailedEndpoint {
	return page.FailedEndpoint{
		Path: v.at("endpoints", id.String()), Name: called(label), Place: page.EndpointAddress(label.URL), State: label.State,
	}
}

// addDetails adds what the newest delivery of each row was told.
func (v *visit) addDetails(view *page.Failures) error {
	newest := make([]gateway.DeliveryID, 0, len(view.Cards))
	for _, card := range view.Cards {
		for _, row := range card.Rows {
			newest = append(newest, row.Newest)
		}
	}
	told, err := v.d.Store.LastAnswers(v.ctx(), v.account(), newest)
	for _, card := range view.Cards {
		for i := range card.Rows {
			card.Rows[i].Detail = detailOf(told[card.Rows[i].Newest])
		}
	}
	return err
}

// shownDetail is how much of an answer is shown among others, in characters.
const shownDetail = 160

// detailOf is what went wrong, or what the receiver said.
func detailOf(a store.LastAnswer) string {
	said := strings.Join(strings.Fields(string(a.Body)), " ")
	return component.Shorten(cmp.Or(said, a.Detail), shownDetail)
}
