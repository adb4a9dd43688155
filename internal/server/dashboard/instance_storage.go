package dashboard

import (
	"time"

	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

func showStorage(v *visit) error {
	all, err := v.d.Store.Storage(v.ctx())
	if err != nil {
		return err
	}
	view := page.Storage{Now: v.now(), Bytes: all.Bytes, Retention: v.d.Retention}
	for _, t := range all.Tables {
		view.Tables = append(view.Tables, page.StorageTable(t))
	}
	view.Days, view.Ahead = storageDays(all.Days, v.now())
	if view.Frame, _, err = v.frame("Storage", layout.SectionStorage); err != nil {
		return err
	}
	return v.page(page.StoragePage(view))
}

// storageDays are the days that have begun, from the first with a row on, and
// the last one that is made ahead of time.
func storageDays(all []store.DaySize, now time.Time) (days []page.StorageDay, ahead time.Time) {
	for _, d := range all {
		switch {
		case d.Day.After(now):
			ahead = d.Day
		case len(days) > 0 || !d.Empty:
			days = append(days, page.StorageDay{Day: d.Day, Bytes: d.Bytes, Events: d.Events, Deliveries: d.Deliveries, Attempts: d.Attempts})
		}
	}
	return days, ahead
}
