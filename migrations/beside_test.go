package migrations_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/migrations"
)

// besideFrom is the first migration that is looked at: the version before goes on
// beside each from here on.
const besideFrom = "0037"

// safeMark begins the line of a migration's head that says why it may do what the
// version before could trip over.
const safeMark = "-- Safe beside the version before: "

// big are the tables whose indexes are built after the start, day by day.
var big = []string{"events", "event_bodies", "deliveries", "attempts", "requests", "event_keys"}

// Nodes of the version before go on, on the schema of the next one: a migration
// takes nothing away that they use, and asks nothing of their rows that they do not
// give. It stands in nobody's way for long, either.
func TestMigrationsBesideTheVersionBefore(t *testing.T) {
	t.Parallel()
	entries, err := fs.ReadDir(migrations.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() < besideFrom {
			continue
		}
		text, err := fs.ReadFile(migrations.FS, entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range trips(string(text)) {
			t.Errorf("%s: %s", entry.Name(), fault)
		}
	}
}

var (
	comment     = regexp.MustCompile(`--[^\n]*`)
	newTable    = regexp.MustCompile(`(?i)^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)`)
	alterTable  = regexp.MustCompile(`(?i)\bALTER TABLE (?:IF EXISTS )?(?:ONLY )?"?(\w+)"?(.*)`)
	dropTable   = regexp.MustCompile(`(?i)\bDROP (?:TABLE|VIEW|FUNCTION|TYPE|SEQUENCE)\b`)
	createIndex = regexp.MustCompile(`(?i)\bCREATE (?:UNIQUE )?INDEX (?:CONCURRENTLY )?(?:IF NOT EXISTS )?\w* ?ON (ONLY )?"?(\w+)`)
	notNull     = regexp.MustCompile(`(?i)\bADD (?:COLUMN )?(?:IF NOT EXISTS )?"?\w+"? [^,]*\bNOT NULL\b`)
	hasDefault  = regexp.MustCompile(`(?i)\b(?:DEFAULT|GENERATED)\b`)
	// takesAway is what changes a table below those who use it.
	takesAway = map[string]*regexp.Regexp{
		"drops a column":            regexp.MustCompile(`(?i)\bDROP COLUMN\b`),
		"drops a default":           regexp.MustCompile(`(?i)\bDROP DEFAULT\b`),
		"renames something":         regexp.MustCompile(`(?i)\bRENAME\b`),
		"changes a column's type":   regexp.MustCompile(`(?i)\bALTER (?:COLUMN )?"?\w+"? (?:SET DATA )?TYPE\b`),
		"forbids nulls in a column": regexp.MustCompile(`(?i)\bSET NOT NULL\b`),
		"checks every row at once":  regexp.MustCompile(`(?i)\bADD CONSTRAINT \w+ (?:CHECK|FOREIGN KEY)\b`),
	}
)

// trips lists what the version before, or traffic, could trip over.
func trips(text string) (found []string) {
	head, _, _ := strings.Cut(text, "-- +goose")
	if _, why, told := strings.Cut("\n"+head, "\n"+safeMark); told && strings.TrimSpace(why) != "" {
		return nil
	}
	var made []string
	for _, statement := range statements(text) {
		if match := newTable.FindStringSubmatch(statement); match != nil {
			made = append(made, strings.ToLower(match[1]))
		}
		for _, fault := range tripsOf(statement, made) {
			found = append(found, fault+"; where that is safe, say why in the head after \""+strings.TrimSpace(safeMark)+"\"")
		}
	}
	return found
}

func tripsOf(statement string, made []string) (found []string) {
	if what := dropTable.FindString(statement); what != "" {
		found = append(found, "it takes something away ("+what+")")
	}
	if match := createIndex.FindStringSubmatch(statement); match != nil && match[1] == "" && slices.Contains(big, strings.ToLower(match[2])) {
		found = append(found, "the index on "+match[2]+" is built while it starts: make it ON ONLY")
	}
	match := alterTable.FindStringSubmatch(statement)
	if match == nil || slices.Contains(made, strings.ToLower(match[1])) {
		return found
	}
	table, does := strings.ToLower(match[1]), match[2]
	for what, pattern := range takesAway {
		if !pattern.MatchString(does) {
			continue
		}
		if what == "checks every row at once" && (!slices.Contains(big, table) || strings.Contains(strings.ToUpper(does), "NOT VALID")) {
			continue
		}
		found = append(found, fmt.Sprintf("it %s of %s", what, table))
	}
	if column := notNull.FindString(does); column != "" && !hasDefault.MatchString(does) {
		found = append(found, "a row without the new column of "+table+" is refused: give it a default")
	}
	slices.Sort(found)
	return found
}

// statements are those of a migration, each on one line, without comments.
func statements(text string) (all []string) {
	for part := range strings.SplitSeq(comment.ReplaceAllString(text, ""), ";") {
		if one := strings.Join(strings.Fields(part), " "); one != "" {
			all = append(all, one)
		}
	}
	return all
}

func TestWhatTripsIsFound(t *testing.T) {
	t.Parallel()
	const why = "; where that is safe, say why in the head after \"-- Safe beside the version before:\""
	for name, test := range map[string]struct {
		sql  string
		want []string
	}{
		"add column":              {"ALTER TABLE events ADD COLUMN span bytea;", nil},
		"add column with default": {"ALTER TABLE accounts ADD COLUMN a text NOT NULL DEFAULT '', ADD COLUMN b int;", nil},
		"add column not null":     {"ALTER TABLE accounts ADD COLUMN a text NOT NULL;", []string{"a row without the new column of accounts is refused: give it a default"}},
		"allow nulls":             {"ALTER TABLE audit_log ALTER COLUMN account_id DROP NOT NULL;", nil},
		"drop column":             {"ALTER TABLE events\n    DROP COLUMN -- gone\n    span;", []string{"it drops a column of events"}},
		"drop default":            {"ALTER TABLE events ALTER status DROP DEFAULT;", []string{"it drops a default of events"}},
		"rename column":           {"alter table if exists only events rename span to trace;", []string{"it renames something of events"}},
		"rename table":            {"ALTER TABLE events RENAME TO happenings;", []string{"it renames something of events"}},
		"type":                    {"ALTER TABLE events ALTER COLUMN n TYPE bigint;", []string{"it changes a column's type of events"}},
		"set data type":           {"ALTER TABLE events ALTER n SET DATA TYPE bigint;", []string{"it changes a column's type of events"}},
		"not null":                {"ALTER TABLE events ALTER COLUMN n SET NOT NULL;", []string{"it forbids nulls in a column of events"}},
		"of its own table":        {"CREATE TABLE a (n int);\nALTER TABLE a ALTER COLUMN n SET NOT NULL, DROP COLUMN m;", nil},
		"drop table":              {"DROP TABLE IF EXISTS a;", []string{"it takes something away (DROP TABLE)"}},
		"drop function":           {"DROP FUNCTION f;", []string{"it takes something away (DROP FUNCTION)"}},
		"drop index":              {"DROP INDEX a_idx;", nil},
		"index":                   {"CREATE INDEX a_idx ON mails (n);", nil},
		"index of a big table":    {"CREATE UNIQUE INDEX IF NOT EXISTS a_idx ON attempts (n);", []string{"the index on attempts is built while it starts: make it ON ONLY"}},
		"index of only that":      {"CREATE INDEX a_idx ON ONLY attempts (n);", nil},
		"check":                   {"ALTER TABLE accounts ADD CONSTRAINT a CHECK (n > 0);", nil},
		"check of a big table":    {"ALTER TABLE deliveries ADD CONSTRAINT a CHECK (n > 0);", []string{"it checks every row at once of deliveries"}},
		"check of new rows":       {"ALTER TABLE deliveries ADD CONSTRAINT a CHECK (n > 0) NOT VALID;", nil},
		"in a comment":            {"-- Once there was a DROP TABLE here.\nSELECT 1;", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			for _, fault := range test.want {
				want = append(want, fault+why)
			}
			if diff := cmp.Diff(want, trips("-- Why.\n\n-- +goose Up\n"+test.sql+"\n")); diff != "" {
				t.Error(diff)
			}
			for mark, excused := range map[string]bool{safeMark + "nobody reads it.": true, safeMark: false, "-- It is safe.": false} {
				got := trips("-- Why.\n" + mark + "\n\n-- +goose Up\n" + test.sql + "\n")
				if (len(got) == 0) != (excused || test.want == nil) {
					t.Errorf("with %q: %q", mark, got)
				}
			}
		})
	}
}
