package dashboard

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

const (
	kindHMAC       = "hmac"
	fieldTolerance = "tolerance"
	fieldIDHeader  = "id_header"
)

// hmacFields are the settings of the kind hmac, which the form has by the same
// names.
var hmacFields = []struct{ name, label string }{
	{"header", "Signature in"},
	{"algorithm", "Algorithm"},
	{"encoding", "Encoding"},
	{"prefix", "After"},
	{"signed", "Signed"},
	{"timestamp_header", "Time in"},
	{fieldIDHeader, "Event’s id in"},
	{"type_header", "Event’s type in"},
}

// settingNames are the names of all settings that the form has.
func settingNames() []string {
	names := []string{fieldTolerance}
	for _, f := range hmacFields {
		names = append(names, f.name)
	}
	return names
}

// settingsOf writes the settings that were entered as the use case takes them;
// nil for a kind that has none.
func settingsOf(f form, kind page.SourceKind) json.RawMessage {
	chosen := map[string]string{}
	if kind.Timed && f.text(fieldTolerance) != "" {
		chosen[fieldTolerance] = f.text(fieldTolerance)
	}
	if kind.Kind == kindHMAC {
		for _, field := range hmacFields {
			if f.text(field.name) != "" {
				chosen[field.name] = f.raw(field.name)
			}
		}
	} else if !kind.Timed {
		return nil
	}
	for name := range chosen {
		if name != "prefix" && name != "signed" { // these may begin or end with a space
			chosen[name] = strings.TrimSpace(chosen[name])
		}
	}
	raw, _ := json.Marshal(chosen) // a map of strings can always be written
	return raw
}

// choicesOf reads stored settings as the form shows them.
func choicesOf(raw []byte) map[string]string {
	var stored map[string]any
	chosen := map[string]string{}
	if json.Unmarshal(raw, &stored) != nil {
		return chosen
	}
	for name, value := range stored {
		if text, ok := value.(string); ok {
			chosen[name] = text
		}
	}
	return chosen
}

// chosenOf is what was entered, for the form that is shown again. A secret is
// not among it.
func chosenOf(f form) map[string]string {
	chosen := map[string]string{}
	for _, name := range append(settingNames(), fieldName, fieldUID, fieldLater) {
		chosen[name] = f.raw(name)
	}
	return chosen
}

// settingFacts are a source's settings in words.
func settingFacts(s gateway.Source) []page.Fact {
	chosen := choicesOf(s.Settings)
	var facts []page.Fact
	if s.Kind == kindHMAC {
		if chosen["signed"] == "" {
			chosen["signed"] = "{body}"
		}
		for _, field := range hmacFields {
			if value := chosen[field.name]; value != "" {
				facts = append(facts, page.Fact{Name: field.label, Value: value, Code: true})
			}
		}
	}
	if page.KindOf(s.Kind).Timed {
		value := chosen[fieldTolerance]
		if value == "" {
			value = "5m"
		}
		facts = append(facts, page.Fact{Name: "Time tolerance", Value: value})
	}
	return facts
}

// takeSource is take for the forms about sources.
func (f form) takeSource(err error) bool {
	fields := map[string]string{
		fieldName: fieldName, fieldUID: fieldUID, fieldSecret: fieldSecret, fieldOverlap: fieldOverlap,
	}
	for _, fault := range faultsOf(err) {
		if fault.Field == fieldSettings {
			field, message := settingFault(fault.Detail)
			f.wrong(field, message)
			fields[fieldSettings] = field
		}
	}
	return f.take(err, fields, sourceSentences)
}

var sourceSentences = sentences{
	{gateway.ErrUIDTaken, fieldUID, "Another source of this account has this name."},
	{gateway.ErrTooManySecrets, "", "As many secrets are valid as can be. Choose that the present ones are not kept."},
}

// settingFault finds the field that a sentence about settings begins with:
// `setting "header" is missing` is about header. One that begins otherwise is
// about the last setting that it names.
func settingFault(detail string) (field, message string) {
	parts := strings.Split(detail, `"`)
	for i := 1; i < len(parts); i += 2 {
		if !slices.Contains(settingNames(), parts[i]) {
			continue
		}
		if before := strings.TrimSpace(parts[0]); i == 1 && (before == "" || before == "setting" || before == "settings") {
			return parts[i], sentence("this" + strings.Join(parts[i+1:], `"`))
		}
		field = parts[i]
	}
	return field, sentence(detail)
}
