package api

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	oneDay = 24 * time.Hour
	// maxUsageDays is a leap year.
	maxUsageDays = 366
	// monthForm is how a month is written.
	monthForm = "2006-01"
)

// usageView is what was metered in a time, and on each of its days.
type usageView struct {
	Since      timestamp      `json:"since"`
	Until      timestamp      `json:"until"`
	Events     int64          `json:"events" doc:"How many events were decided. A repeat of one is not counted."`
	Deliveries int64          `json:"deliveries" doc:"How many deliveries were confirmed."`
	Bytes      int64          `json:"bytes" doc:"The size of the events' payloads."`
	Days       []usageDayView `json:"days" nullable:"false" doc:"Every day of the time, the oldest first. The present day is not over."`
}

// usageDayView is what was metered on one day.
type usageDayView struct {
	Day        string `json:"day" format:"date" example:"2026-07-01" doc:"In UTC."`
	Events     int64  `json:"events"`
	Deliveries int64  `json:"deliveries"`
	Bytes      int64  `json:"bytes"`
}

type usageInput struct {
	Month string `query:"month" example:"2026-07" doc:"A month, in UTC. Left out, with since and until: the present one."`

	TimeQuery
}

func (a *API) addUsageRoutes() {
	register(a, route{
		method: get, path: "/usage", needs: read, status: 200,
		id: "getUsage", tag: tagUsage, summary: "Get what was metered",
		about: "By day, in a month or from since until until, up to 366 days. Times within a day stand for all of it.",
	}, a.getUsage)
}

func (a *API) getUsage(ctx context.Context, who caller, in *usageInput) (*objectReply[usageView], error) {
	since, until, err := in.days(a.Now())
	if err != nil {
		return nil, err
	}
	days, err := a.Store.UsageByDay(ctx, who.account(), since, until)
	return object(days, err, func(days []store.UsageDay) usageView { return viewUsage(days, since, until) })
}

// days are the days that are asked for, from the first before the last.
func (in *usageInput) days(now time.Time) (since, until time.Time, err error) {
	since, until = time.Time(in.Since), time.Time(in.Until)
	ranged := !since.IsZero() || !until.IsZero()
	switch {
	case in.Month != "" && ranged:
		return since, until, problem.At("query.month", "does not go with since and until: give the one or the others")
	case !ranged:
		return monthOf(in.Month, now)
	}
	if until.IsZero() {
		until = now
	}
	if since.IsZero() {
		return since, until, problem.At("query.since", "is required where until is given")
	}
	since = since.Truncate(oneDay)
	if whole := until.Truncate(oneDay); whole.Equal(until) {
		until = whole
	} else {
		until = whole.Add(oneDay)
	}
	switch {
	case !until.After(since):
		return since, until, problem.At("query.until", "want a time after since")
	case until.Sub(since) > maxUsageDays*oneDay:
		return since, until, problem.At("query.since", "want at most %d days at once", maxUsageDays)
	}
	return since, until, nil
}

// monthOf are the days of a month, those that are still to come left out.
func monthOf(text string, now time.Time) (since, until time.Time, err error) {
	now = now.UTC()
	since = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	if text != "" {
		if since, err = time.Parse(monthForm, text); err != nil || !storable(since) {
			return since, until, problem.At("query.month", "want a month such as 2026-07")
		}
	}
	if since.After(now) {
		return since, until, problem.At("query.month", "want a month that has begun")
	}
	until = since.AddDate(0, 1, 0)
	if tomorrow := now.Truncate(oneDay).Add(oneDay); until.After(tomorrow) {
		until = tomorrow
	}
	return since, until, nil
}

func viewUsage(days []store.UsageDay, since, until time.Time) usageView {
	v := usageView{Since: timestamp(since), Until: timestamp(until), Days: make([]usageDayView, 0, len(days))}
	for _, d := range days {
		v.Events += d.Events
		v.Deliveries += d.Deliveries
		v.Bytes += d.Bytes
		v.Days = append(v.Days, usageDayView{d.Day.UTC().Format(time.DateOnly), d.Events, d.Deliveries, d.Bytes})
	}
	return v
}
