package dashboard

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// paramMonth is the month that is shown, as monthForm has it.
	paramMonth = "month"
	monthForm  = "2006-01"
)

// showUsage is the page of what was metered in a month.
func showUsage(v *visit) error {
	month, present := v.month()
	days, err := v.usage(month)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Usage", layout.SectionUsage)
	if err != nil {
		return err
	}
	view := page.Usage{
		Frame: frame, Month: month.Format("January 2006"), Running: month.Equal(present),
		CSV: v.usageOf(v.at("usage", "csv"), month),
	}
	for _, d := range days {
		view.Days = append(view.Days, page.UsageDay{Day: d.Day, Events: d.Events, Deliveries: d.Deliveries, Bytes: d.Bytes})
	}
	if month.After(firstOf(v.membership.Account.ID.Time())) {
		view.Previous = v.usageOf(v.at("usage"), month.AddDate(0, -1, 0))
	}
	if month.Before(present) {
		view.Next = v.usageOf(v.at("usage"), month.AddDate(0, 1, 0))
	}
	return v.page(page.UsagePage(view))
}

// month is the month that the address names, and the present one, which stands
// for what names none that has begun.
func (v *visit) month() (month, present time.Time) {
	present = firstOf(v.now())
	month, err := time.Parse(monthForm, v.QueryParam(paramMonth))
	if err != nil || month.After(present) || month.Year() < 1 {
		return present, present
	}
	return month, present
}

// firstOf is when a time's month begins.
func firstOf(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// usage reads the days of a month that have begun.
func (v *visit) usage(month time.Time) ([]store.UsageDay, error) {
	until := month.AddDate(0, 1, 0)
	if tomorrow := v.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1); until.After(tomorrow) {
		until = tomorrow
	}
	return v.d.Store.UsageByDay(v.ctx(), v.account(), month, until)
}

func (v *visit) usageOf(at string, month time.Time) string {
	return address(at, paramMonth, month.Format(monthForm))
}

// downloadUsage answers with a month's days as a table for other programs.
func downloadUsage(v *visit) error {
	month, _ := v.month()
	days, err := v.usage(month)
	if err != nil {
		return err
	}
	text, err := usageTable(days)
	if err != nil {
		return err
	}
	if err := v.d.Accounts.NoteExport(v.ctx(), v.account(), v.actor(), "usage", month.Format(monthForm)); err != nil {
		return err
	}
	v.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="usage-`+month.Format(monthForm)+`.csv"`)
	return v.Blob(http.StatusOK, "text/csv; charset=utf-8", text)
}

func usageTable(days []store.UsageDay) ([]byte, error) {
	var text bytes.Buffer
	table := csv.NewWriter(&text)
	rows := [][]string{{"day", "events", "deliveries", "bytes"}}
	for _, d := range days {
		rows = append(rows, []string{
			d.Day.UTC().Format(time.DateOnly), strconv.FormatInt(d.Events, 10), strconv.FormatInt(d.Deliveries, 10), strconv.FormatInt(d.Bytes, 10),
		})
	}
	err := table.WriteAll(rows)
	return text.Bytes(), err
}
