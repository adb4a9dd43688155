package dashboard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// shownCards and shownRows bound the page: who has more failures of more
	// kinds begins with these.
	shownCards, shownRows = 30, 10
	// shownUngrouped is how many rows one card has that is all of them.
	shownUngrouped = 100
	// readAnswers bounds how many answers are read to find what most of each
	// group's newest were told.
	readAnswers = 300
)

// failureCards puts groups of one endpoint, or of one cause, together: those
// that failed last first. hidden is how many cards are left out.
func (v *visit) failureCards(f failureView, groups []store.FailureGroup) (cards []page.FailureCard, hidden int, err error) {
	trend := f.trend(groups)
	parts := groupedBy(f.group, groups)
	slices.SortStableFunc(parts, func(a, b []store.FailureGroup) int { return lastOf(b).Compare(lastOf(a)) })
	if len(parts) > shownCards {
		parts, hidden = parts[:shownCards], len(parts)-shownCards
	}
	most := shownRows
	if f.group == page.Ungrouped {
		most = shownUngrouped
	}
	shown := make([][]store.FailureGroup, len(parts))
	for i, part := range parts {
		cards = append(cards, v.failureCard(f, part))
		slices.SortStableFunc(part, func(a, b store.FailureGroup) int { return b.Last.Compare(a.Last) })
		shown[i] = part[:min(len(part), most)]
		cards[i].Hidden = len(part) - len(shown[i])
	}
	told, err := v.commonAnswers(slices.Concat(shown...))
	for i, part := range shown {
		for _, g := range part {
			row := v.failureRow(f, g)
			row.Trend, row.Detail = trend.of(g), told[keyOf(g)]
			if f.group == page.ByEndpoint && len(part) > 1 {
				row.Does.SendNow, row.Does.Resume = "", "" // they are about all of them, and stands above
			}
			cards[i].Rows = append(cards[i].Rows, row)
		}
	}
	return cards, hidden, err
}

// failureKey is what groups are told apart by.
type failureKey struct {
	endpoint gateway.EndpointID
	cause    gateway.Cause
}

func keyOf(g store.FailureGroup) failureKey { return failureKey{g.EndpointID, g.Cause} }

// groupedBy parts groups by endpoint or by cause, or leaves them together.
func groupedBy(group string, groups []store.FailureGroup) (parts [][]store.FailureGroup) {
	index := map[failureKey]int{}
	for _, g := range groups {
		k := keyOf(g)
		switch group {
		case page.ByEndpoint:
			k.cause = gateway.Cause{}
		case page.ByCause:
			k.endpoint = gateway.EndpointID{}
		default:
			k = failureKey{}
		}
		n, ok := index[k]
		if !ok {
			n, index[k] = len(parts), len(parts)
			parts = append(parts, nil)
		}
		parts[n] = append(parts[n], g)
	}
	return parts
}

// lastOf is when the last of some groups failed.
func lastOf(groups []store.FailureGroup) (last time.Time) {
	for _, g := range groups {
		if g.Last.After(last) {
			last = g.Last
		}
	}
	return last
}

// failureCard is the head of a part. Where it has one row, that has the buttons.
func (v *visit) failureCard(f failureView, part []store.FailureGroup) page.FailureCard {
	g := part[0]
	card := page.FailureCard{Cause: g.Cause, Endpoint: v.failedEndpoint(g.EndpointID, g.Endpoint), Last: lastOf(part)}
	for _, g := range part {
		card.Count += g.Count
	}
	if len(part) == 1 {
		return card
	}
	which := failed{since: oldestOf(part), seen: card.Last, state: f.state}
	switch f.group {
	case page.ByEndpoint:
		which.endpoint, which.active = &g.EndpointID, g.Endpoint.State == gateway.EndpointActive
	case page.ByCause:
		which.cause = &g.Cause
	default:
		return card
	}
	card.Does = v.failureActs(which)
	return card
}

// oldestOf is when the oldest event of some groups came in.
func oldestOf(groups []store.FailureGroup) time.Time {
	oldest := groups[0].Oldest.Time()
	for _, g := range groups {
		if at := g.Oldest.Time(); at.Before(oldest) {
			oldest = at
		}
	}
	return oldest
}

func (v *visit) failureRow(f failureView, g store.FailureGroup) page.FailureRow {
	row := page.FailureRow{
		Endpoint: v.failedEndpoint(g.EndpointID, g.Endpoint), Cause: g.Cause,
		Count: g.Count, First: g.First, Last: g.Last, Next: g.NextAttemptAt, Dismissed: g.Dismissed(),
		Does: v.failureActs(failed{
			endpoint: &g.EndpointID, cause: &g.Cause, since: g.Oldest.Time(), seen: g.Last, state: f.state,
			active: g.Endpoint.State == gateway.EndpointActive,
		}),
	}
	if d := g.Dismissal; d != nil {
		row.Dismissal = &page.FailureDismissal{By: d.ActorName, Note: d.Note, At: d.At}
	}
	return row
}

func (v *visit) failedEndpoint(id gateway.EndpointID, label store.EndpointLabel) page.FailedEndpoint {
	return page.FailedEndpoint{
		Path: v.at("endpoints", id.String()), Name: called(label), Place: page.EndpointAddress(label.URL), State: label.State,
	}
}

// commonAnswers finds for each group what most of its newest were told, of as
// many of each as may be read in all.
func (v *visit) commonAnswers(groups []store.FailureGroup) (map[failureKey]string, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	each := min(max(readAnswers/len(groups), 1), store.NewestOfGroup)
	var ids []gateway.DeliveryID
	for _, g := range groups {
		ids = append(ids, g.Newest[:min(each, len(g.Newest))]...)
	}
	answers, err := v.d.Store.LastAnswers(v.ctx(), v.account(), ids)
	common := make(map[failureKey]string, len(groups))
	for _, g := range groups {
		var told []string
		for _, id := range g.Newest[:min(each, len(g.Newest))] {
			told = append(told, detailOf(answers[id]))
		}
		common[keyOf(g)] = mostCommon(told)
	}
	return common, err
}

// mostCommon is the text that is there most often; of several, the first.
func mostCommon(texts []string) (common string) {
	counts := map[string]int{}
	for _, text := range texts {
		if text != "" {
			counts[text]++
		}
	}
	for _, text := range texts {
		if counts[text] > counts[common] {
			common = text
		}
	}
	return common
}

// shownDetail is how much of an answer is shown among others, in characters.
const shownDetail = 160

// detailOf is what went wrong, or what the receiver said.
func detailOf(a store.LastAnswer) string {
	said := strings.Join(strings.Fields(string(a.Body)), " ")
	return component.Shorten(cmp.Or(said, a.Detail), shownDetail)
}
