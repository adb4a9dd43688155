package page

import (
	"slices"
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Storage is what the database takes up, for the instance's owner.
type Storage struct {
	layout.Frame

	Now time.Time
	// Bytes is the whole database.
	Bytes  int64
	Tables []StorageTable
	// Days are those that have begun, oldest first; Ahead is the last that is
	// made ahead of time.
	Days  []StorageDay
	Ahead time.Time
	// Retention is how long a day is kept.
	Retention time.Duration
}

// StorageTable is one table, or all parts of one. Rows is nil where PostgreSQL
// has not counted them yet.
type StorageTable struct {
	Name              string
	Parts             int
	Bytes, IndexBytes int64
	Rows              *int64
	Dead              int64
	VacuumedAt        *time.Time
}

// StorageDay is what came in on a day.
type StorageDay struct {
	Day                          time.Time
	Bytes                        int64
	Events, Deliveries, Attempts *int64
}

// grownOver is how many whole days the growth is the mean of, at the most.
const grownOver = 7

// growth is what a day adds, as the mean of the last whole days, and how many
// these are; none: no day is whole yet.
func (v Storage) growth() (bytes int64, days int) {
	today := v.Now.UTC().Truncate(24 * time.Hour)
	for i := len(v.Days) - 1; i >= 0 && days < grownOver; i-- {
		if v.Days[i].Day.Before(today) {
			bytes += v.Days[i].Bytes
			days++
		}
	}
	if days > 0 {
		bytes /= int64(days)
	}
	return bytes, days
}

// heading is how large the database is when the oldest day is as old as the
// retention lets it get, if days stay as they are. false: it cannot be told yet.
func (v Storage) heading() (int64, bool) {
	growth, days := v.growth()
	if days == 0 {
		return 0, false
	}
	rest := v.Bytes
	for _, d := range v.Days {
		rest -= d.Bytes
	}
	kept := int64((v.Retention + 24*time.Hour - 1) / (24 * time.Hour))
	return max(rest, 0) + growth*(kept+1), true
}

func (v Storage) headingStat() component.Stat {
	s := component.Stat{Label: "Heading for", Value: "–", Note: "known after the first whole day"}
	if bytes, ok := v.heading(); ok {
		s.Value, s.Note = component.Bytes(bytes), "when days are kept for "+component.Duration(v.Retention)
	}
	return s
}

func (v Storage) growthStat() component.Stat {
	s := component.Stat{Label: "Growth", Value: "–", Note: "known after the first whole day"}
	if bytes, days := v.growth(); days > 0 {
		s.Value, s.Unit, s.Note = component.Bytes(bytes), "a day", "mean of the last "+component.Plural(days, "whole day", "whole days")
	}
	return s
}

func (v Storage) oldestStat() component.Stat {
	s := component.Stat{Label: "Oldest day", Value: "–", Note: "there is none"}
	if len(v.Days) > 0 {
		oldest := v.Days[0].Day
		s.Value = dayText(oldest)
		s.Note = "goes on " + dayText(oldest.Add(24*time.Hour+v.Retention)) + " with all that is in it"
	}
	return s
}

// sizeUnits are those that a chart counts in: the first that gives more than a
// few of them.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}

// chart is how much of each day there is.
func (v Storage) chart() component.StackChart {
	var most int64
	for _, d := range v.Days {
		most = max(most, d.Bytes)
	}
	unit := sizeUnits[len(sizeUnits)-1]
	for _, u := range sizeUnits {
		if most >= 10*u.bytes {
			unit = u
			break
		}
	}
	c := component.StackChart{
		Title: "Size of each day in " + unit.name, Names: component.SeriesNames{OK: unit.name, Plain: true}, Size: component.Small, NoTable: true,
		Marks: v.marks(),
	}
	for _, d := range v.Days {
		c.Bins = append(c.Bins, component.Bin{Label: dayText(d.Day), OK: int((d.Bytes + unit.bytes/2) / unit.bytes)})
	}
	return c
}

func (v Storage) marks() []string {
	days := make([]time.Time, len(v.Days))
	for i, d := range v.Days {
		days[i] = d.Day
	}
	return dayMarks(days)
}

// newestFirst are the days as the list has them.
func (v Storage) newestFirst() []StorageDay {
	days := slices.Clone(v.Days)
	slices.Reverse(days)
	return days
}

// shownTables is how many tables are listed one by one.
const shownTables = 15

// largest are the tables that are listed one by one, and rest what the others
// take up together; without a name if there are none.
func (v Storage) largest() (largest []StorageTable, rest StorageTable) {
	if len(v.Tables) <= shownTables {
		return v.Tables, rest
	}
	others := v.Tables[shownTables:]
	rest.Name = component.Plural(len(others), "smaller table", "smaller tables")
	for _, t := range others {
		rest.Bytes += t.Bytes
		rest.IndexBytes += t.IndexBytes
		rest.Dead += t.Dead
	}
	return v.Tables[:shownTables], rest
}

// about writes a number of rows that PostgreSQL has counted at some time.
func about(n *int64) string {
	if n == nil {
		return "–"
	}
	return component.Number(*n)
}
