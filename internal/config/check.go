package config

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// shownValue is how many bytes of a wrong value an error shows: enough to
// recognise it.
const shownValue = 200

// SettingError says which setting is wrong and what would be right.
type SettingError struct {
	Name     string // the variable
	Value    string // what it holds, quoted and cut; empty for a secret
	Accepted string // what it may hold
}

// Error returns one line for a person. The value of a secret is not in it.
func (e *SettingError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s is not valid: want %s", e.Name, e.Accepted)
	}
	return fmt.Sprintf("%s is %s: want %s", e.Name, e.Value, e.Accepted)
}

// problems returns a *SettingError for each wrong setting: those that did not
// parse and those whose value is out of bounds.
func (c Config) problems(given environment, failed map[string]bool) []error {
	var problems []error
	for field, value := range reflect.ValueOf(c).Fields() {
		if failed[field.Name] || !withinBounds(field, value) {
			problems = append(problems, settingError(field, given))
		}
	}
	if !c.Embedded() && c.MasterKey == "" && !failed["MasterKey"] {
		problems = append(problems, &SettingError{
			Name:     "ROWLOCK_MASTER_KEY",
			Accepted: "32 bytes in standard base64, since a database is named; make one with: openssl rand -base64 32",
		})
	}
	if c.Embedded() && c.PoolerURL != "" {
		problems = append(problems, &SettingError{
			Name:     "ROWLOCK_POOLER_URL",
			Accepted: "ROWLOCK_DATABASE_URL besides: the address of PostgreSQL itself, for what belongs to a session",
		})
	}
	return problems
}

// settingError describes the wrong value of one field.
func settingError(field reflect.StructField, given environment) *SettingError {
	name := field.Tag.Get("env")
	problem := &SettingError{Name: name, Accepted: field.Tag.Get("accept")}
	if !secretType(field.Type) {
		problem.Value = quote(given.values[name])
	}
	if other := given.source[name]; other != "" {
		problem.Name = other
	}
	return problem
}

// quote shows a value: without a password that was put where none belongs,
// and cut to what a person needs to recognise it.
func quote(value string) string {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		value = u.Redacted()
	}
	if len(value) <= shownValue {
		return strconv.Quote(value)
	}
	cut := shownValue
	for cut > 0 && !utf8.RuneStart(value[cut]) {
		cut--
	}
	return strconv.Quote(value[:cut]) + "…"
}

// withinBounds checks what the tags min, max and schemes ask for.
func withinBounds(field reflect.StructField, value reflect.Value) bool {
	switch v := value.Interface().(type) {
	case time.Duration:
		return inRange(field, v, time.ParseDuration)
	case Size:
		return inRange(field, v, parseSize)
	case int:
		return inRange(field, v, strconv.Atoi)
	case SecretURL:
		schemes := field.Tag.Get("schemes")
		return v == "" || schemes == "" || slices.Contains(strings.Split(schemes, ","), v.scheme())
	}
	return true
}

// inRange compares a value with the bounds in the field's tags. A bound that
// does not parse refuses every value, so that a test of the defaults sees it.
func inRange[T cmp.Ordered](field reflect.StructField, value T, parse func(string) (T, error)) bool {
	if text, ok := field.Tag.Lookup("min"); ok {
		if least, err := parse(text); err != nil || value < least {
			return false
		}
	}
	if text, ok := field.Tag.Lookup("max"); ok {
		if most, err := parse(text); err != nil || value > most {
			return false
		}
	}
	return true
}
