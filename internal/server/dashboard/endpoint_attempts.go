package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// attemptsListed is how many attempts an endpoint's page shows at once: as
	// long as what stands beside them.
	attemptsListed = 25
	// paramShow narrows the attempts: to onlyFailed or onlySucceeded.
	paramShow     = "show"
	onlyFailed    = "failed"
	onlySucceeded = "succeeded"
	// attemptsAnchor leads to the list, which is not at the top of its page.
	attemptsAnchor = "#attempts"
)

// endpointAttempts lists an endpoint's attempts, those that started last first.
func (v *visit) endpointAttempts(e gateway.Endpoint, l listing) (list page.EndpointAttempts, err error) {
	show := l.get(paramShow)
	filter := store.AttemptFilter{Endpoint: &e.ID, Failed: show == onlyFailed}
	if show == onlySucceeded {
		filter.Outcome = gateway.OutcomeSucceeded
	}
	after := readAttemptPlace(l.get(paramAfter))
	rows, err := v.d.Store.AttemptRows(v.ctx(), v.account(), filter, after, attemptsListed+1)
	if err != nil {
		return list, err
	}
	list = page.EndpointAttempts{
		Most: v.mostAttempts(e), All: l.with(paramShow) + attemptsAnchor,
		Filtered: filter.Failed || filter.Outcome != "", Filters: l.attemptFilters(),
	}
	if after != nil {
		list.Newest = l.newest() + attemptsAnchor
	}
	if len(rows) > attemptsListed {
		rows = rows[:attemptsListed]
		list.Older = l.older(attemptPlace(rows[attemptsListed-1])) + attemptsAnchor
	}
	for _, r := range rows {
		list.Rows = append(list.Rows, page.EndpointAttempt{Attempt: r.Attempt, EventType: r.EventType})
	}
	return list, nil
}

func (l listing) attemptFilters() []component.Choice {
	choice := func(text, value string) component.Choice {
		return component.Choice{Text: text, Href: l.with(paramShow, value) + attemptsAnchor, Current: l.get(paramShow) == value}
	}
	filters := []component.Choice{choice("All", ""), choice("Failed", onlyFailed), choice("Succeeded", onlySucceeded)}
	filters[0].Current = !filters[1].Current && !filters[2].Current
	return filters
}

// mostAttempts is how many attempts a delivery gets by the endpoint's schedule.
func (v *visit) mostAttempts(e gateway.Endpoint) int {
	if e.RetrySchedule == nil {
		return len(v.d.Deliver.Schedule) + 1
	}
	return len(e.RetrySchedule) + 1
}
