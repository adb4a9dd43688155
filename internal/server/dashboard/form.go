package dashboard

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// maxForm is the size of a form in bytes: the largest field is a payload that
// is sent by hand.
const maxForm = 2 << 20

// form is what a browser sent, and what is wrong with it.
type form struct {
	values url.Values
	// errors are what is wrong, by field. What belongs to no field of the form
	// stands under "".
	errors map[string]string
}

// readForm reads the posted fields. A field that is no valid UTF-8, or holds a
// NUL, is told like any other mistake: nothing of it is kept.
func (v *visit) readForm() (form, error) {
	text, err := body.Read(v.Request(), maxForm)
	if err != nil {
		return form{}, err
	}
	values, err := url.ParseQuery(string(text))
	if err != nil {
		return form{}, fmt.Errorf("%w: %w", body.ErrBroken, err)
	}
	f := form{values: url.Values{}, errors: map[string]string{}}
	for name, all := range values {
		for _, value := range all {
			f.keep(name, value)
		}
	}
	return f, nil
}

// keep adds a field's value, and marks one that cannot be kept.
func (f form) keep(name, value string) {
	f.values.Add(name, value)
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		f.errors[name] = "This holds characters that cannot be kept: a NUL, or bytes that are not UTF-8."
	}
}

// text is a field with the space around it cut off.
func (f form) text(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// raw is a field as it was sent, for passwords and payloads.
func (f form) raw(name string) string { return f.values.Get(name) }

// all is every value of a field, such as checkboxes.
func (f form) all(name string) []string { return f.values[name] }

// checked tells that a checkbox was sent.
func (f form) checked(name string) bool { return f.values.Get(name) != "" }

// wrong puts a message beside a field; the first one stays.
func (f form) wrong(name, message string) {
	if _, told := f.errors[name]; !told {
		f.errors[name] = message
	}
}

// ok tells that nothing is wrong so far.
func (f form) ok() bool { return len(f.errors) == 0 }

// sentences is by which field a use case's error is told where it is no
// InvalidError.
type sentences []struct {
	err     error
	field   string
	message string
}

// take puts what a use case says is wrong beside the fields, under the names
// that the page has for them; what the page has no field for stands above the
// form. It tells whether it knew the error: what it does not know is a failure
// and no mistake.
func (f form) take(err error, fields map[string]string, known sentences) bool {
	if faults := faultsOf(err); len(faults) > 0 {
		for _, fault := range faults {
			f.wrong(fieldOf(fault.Field, fields), advice(fault.Detail))
		}
		return true
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			f.wrong(k.field, k.message)
			return true
		}
	}
	return false
}

// fieldOf is the page's field for a use case's: "headers.X" belongs to what
// stands for "headers".
func fieldOf(field string, fields map[string]string) string {
	if own, ok := fields[field]; ok {
		return own
	}
	head, _, _ := strings.Cut(field, ".")
	head, _, _ = strings.Cut(head, "[")
	if own, ok := fields[head]; ok {
		return own
	}
	return ""
}

// faultsOf lists the mistakes in an error; none if it is something else.
func faultsOf(err error) []*gateway.InvalidError { return problem.Invalids(err) }

// advice is what a use case says is wrong, as a person is told it: "want at
// least 12 characters" is how programs are told.
func advice(detail string) string {
	if wanted, ok := strings.CutPrefix(detail, "want "); ok {
		detail = "use " + wanted
	}
	return sentence(emptyEnds.Replace(detail))
}

// emptyEnds are the ends of lengths of time that say nothing: 1m is 1m0s.
var emptyEnds = strings.NewReplacer("h0m0s", "h", "m0s", "m")

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return "This is not right."
	}
	first, size := utf8.DecodeRuneInString(text)
	text = strings.ToUpper(string(first)) + text[size:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
