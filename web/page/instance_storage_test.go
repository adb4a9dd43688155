package page_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/page"
)

// What a day adds is the mean of the last whole ones, without today, and where
// that leads is told for as many days as are kept.
func TestStorageForecast(t *testing.T) {
	t.Parallel()
	rows := int64(12)
	const day = 24 * time.Hour
	v := page.Storage{Frame: framed(), Now: noon, Bytes: 300e6, Retention: 10 * day}
	d := drawn(t, page.StoragePage(v))
	wantWords(t, d, "#numbers", "known after the first whole day")
	today := noon.UTC().Truncate(day)
	for i, mb := range []int64{900, 10, 10, 10, 10, 10, 10, 10, 1} { // the first is too long ago, the last goes on
		v.Days = append(v.Days, page.StorageDay{Day: today.Add(time.Duration(i-8) * day), Bytes: mb * 1e6, Events: &rows})
	}
	v.Bytes += 971e6
	v.Tables = []page.StorageTable{{Name: "events", Parts: 9, Bytes: 1 << 20, Rows: &rows}, {Name: "lanes", Parts: 1}}
	d = drawn(t, page.StoragePage(v))
	wantWords(t, d, "#numbers", "10 MB a day mean of the last 7 whole days")
	wantWords(t, d, "#numbers", "410 MB when days are kept for 10 d") // 300 of other tables, and 11 days
	wantNumber(t, d, "#days tbody tr", 9)
	wantWords(t, d, "#days tbody tr:first-child", noon.Format("2 January 2006"))
	wantWords(t, d, "#tables tbody tr:first-child", "events 9 parts 12")
	wantWords(t, d, "#tables tbody tr:last-child", "lanes –")
	for range 20 {
		v.Tables = append(v.Tables, page.StorageTable{Name: "small", Parts: 1, Bytes: 1000, IndexBytes: 2000, Dead: 3})
	}
	d = drawn(t, page.StoragePage(v))
	wantNumber(t, d, "#tables tbody tr", 16)
	wantWords(t, d, "#tables tbody tr:last-child", "7 smaller tables 7 kB 14 kB 21")
}
