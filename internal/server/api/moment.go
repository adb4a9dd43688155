package api

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// momentForm is a time as RFC 3339 has it. The standard parser alone would take
// a comma before the fraction, or one digit for the hour.
var momentForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// maxMoment is how many characters of a time are looked at.
const maxMoment = 64

// wantMoment tells what a time looks like.
const wantMoment = "want a time such as 2026-07-01T12:00:00Z (RFC 3339, of the years 1 to 9999)"

// parseMoment reads a time and returns it in UTC.
func parseMoment(text string) (time.Time, error) {
	if len(text) > maxMoment || !momentForm.MatchString(text) {
		return time.Time{}, errors.New(wantMoment)
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || !storable(at) {
		return time.Time{}, errors.New(wantMoment)
	}
	return at.UTC(), nil
}

// storable tells whether database, JSON and a year of four digits have room for
// a time.
func storable(at time.Time) bool {
	year := at.UTC().Year()
	return 1 <= year && year <= 9999
}

// moment is a time in a query.
type moment time.Time

// UnmarshalText reads the time. A plus sign that was not encoded arrives as a
// space; then the error says so.
func (m *moment) UnmarshalText(text []byte) error {
	at, err := parseMoment(string(text))
	if err != nil && strings.Contains(string(text), " ") {
		return errors.New(wantMoment + "; write a + as %2B")
	}
	*m = moment(at)
	return err
}

// Schema describes it.
func (moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}
