package page

import (
	"strconv"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// tabConfiguration is the page's tab among the settings.
const tabConfiguration = "configuration"

// Configuration is the page on which an account's set-up is saved as a file, and
// such a file is brought in.
type Configuration struct {
	layout.Frame

	// Download leads to the file, Action takes one.
	Download, Action string
	// Manages tells that the reader may bring one in.
	Manages bool
	// Pasted is what was pasted, as it is shown again.
	Pasted string
	// Report is what became of a document, or would; nil where none came.
	Report *ConfigurationReport
	Errors Errors
}

// ConfigurationReport is what became of a document, or would become of it.
type ConfigurationReport struct {
	// DryRun tells that nothing was changed; Document is what can be brought in
	// then.
	DryRun   bool
	Document string

	Created, Changed, Unchanged, Refused int
	Rows                                 []ConfigurationRow
}

// ConfigurationRow is one object of a document.
type ConfigurationRow struct {
	// Kind says what it is, in words.
	Kind, Name string
	// Href leads to it; empty where it is not there.
	Href    string
	Outcome string
	// About are sentences: what differs, what is left to be done, what is wrong.
	About []string
}

// works tells that there is something to bring in.
func (r *ConfigurationReport) works() bool { return r.Created+r.Changed > 0 }

// title sums it up.
func (r *ConfigurationReport) title() string {
	switch {
	case r.DryRun && r.works():
		return "Nothing was changed yet. This is what would happen."
	case r.DryRun:
		return "Nothing would be changed."
	case r.works():
		return "Imported."
	default:
		return "Nothing was changed."
	}
}

func (r *ConfigurationReport) sum() string {
	return strconv.Itoa(r.Created) + " created, " + strconv.Itoa(r.Changed) + " changed, " +
		strconv.Itoa(r.Unchanged) + " unchanged, " + strconv.Itoa(r.Refused) + " refused."
}

func (r *ConfigurationReport) tone() component.Tone {
	switch {
	case r.Refused > 0:
		return component.ToneWarn
	case r.DryRun:
		return component.ToneInfo
	default:
		return component.ToneOK
	}
}

// outcomeWords say what would become of an object, and what became of it.
var outcomeWords = map[string]struct{ state, would, did string }{
	"created":   {"active", "Would be created", "Created"},
	"changed":   {"accepted", "Would be changed", "Changed"},
	"unchanged": {"ignored", "Unchanged", "Unchanged"},
	"refused":   {"rejected", "Refused", "Refused"},
}

func (r *ConfigurationReport) word(outcome string) (state, text string) {
	words := outcomeWords[outcome]
	if r.DryRun {
		return words.state, words.would
	}
	return words.state, words.did
}
