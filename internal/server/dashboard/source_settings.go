package dashboard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/source/settings"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// settingNames are the names of all settings that the form of a kind has.
func settingNames(kind page.SourceKind) []string {
	names := slices.DeleteFunc(settings.Names(), func(name string) bool { return name == settings.Tolerance && !kind.Timed })
	for _, s := range kind.Settings {
		names = append(names, s.Name)
	}
	return names
}

// settingsOf writes the settings that were entered as the use case takes them.
// What is stored and the form does not have stays.
func settingsOf(f form, kind page.SourceKind, stored []byte) json.RawMessage {
	chosen, names := map[string]any{}, settingNames(kind)
	for name, value := range storedSettings(stored) {
		if !slices.Contains(names, name) {
			chosen[name] = value
		}
	}
	for _, s := range kind.Settings {
		if values := f.values[s.Name]; s.Many && len(values) > 0 {
			chosen[s.Name] = values
		} else if text := f.raw(s.Name); !s.Many && strings.TrimSpace(text) != "" {
			chosen[s.Name] = settingText(s.Name, text)
		}
	}
	addCommon(chosen, f, kind)
	raw, _ := json.Marshal(chosen) // texts, lists of them and what was JSON can be written
	return raw
}

// storedSettings are settings by their names, each as it was written.
func storedSettings(raw []byte) map[string]json.RawMessage {
	var stored map[string]json.RawMessage
	if json.Unmarshal(raw, &stored) != nil {
		return nil
	}
	return stored
}

// settingText trims what was entered, but for texts that may begin or end with
// a space.
func settingText(name, text string) string {
	if name == "prefix" || name == "signed" {
		return text
	}
	return strings.TrimSpace(text)
}

// addCommon adds the settings that every kind has.
func addCommon(chosen map[string]any, f form, kind page.SourceKind) {
	for _, name := range []string{settings.PublicURL, settings.ReplayGuard} {
		if text := f.text(name); text != "" {
			chosen[name] = text
		}
	}
	if text := f.text(settings.Tolerance); kind.Timed && text != "" {
		chosen[settings.Tolerance] = text
	}
	if text := f.text(settings.RateLimit); text != "" {
		chosen[settings.RateLimit] = map[string]any{"per_second": json.RawMessage(numberOr(text))}
	}
	if lines := strings.Fields(strings.ReplaceAll(f.raw(settings.Addresses), ",", " ")); len(lines) > 0 {
		chosen[settings.Addresses] = lines
	}
}

// numberOr is a whole number as JSON, or null, which no setting takes for one.
func numberOr(text string) string {
	if n, err := strconv.Atoi(text); err == nil {
		return strconv.Itoa(n)
	}
	return "null"
}

// choicesOf reads stored settings as the form shows them: several values of one
// setting stand on lines of their own.
func choicesOf(raw []byte) map[string]string {
	var stored map[string]any
	chosen := map[string]string{}
	if json.Unmarshal(raw, &stored) != nil {
		return chosen
	}
	for name, value := range stored {
		switch v := value.(type) {
		case string:
			chosen[name] = v
		case []any:
			var lines []string
			for _, line := range v {
				lines = append(lines, fmt.Sprint(line))
			}
			chosen[name] = strings.Join(lines, "\n")
		case map[string]any:
			if n, ok := v["per_second"].(float64); ok && name == settings.RateLimit {
				chosen[name] = strconv.Itoa(int(n))
			}
		}
	}
	return chosen
}

// chosenOf is what was entered, for the form that is shown again. A secret is
// not among it.
func chosenOf(f form, kind page.SourceKind) map[string]string {
	chosen := map[string]string{}
	for _, name := range append(settingNames(kind), fieldName, fieldUID, fieldLater) {
		chosen[name] = strings.Join(f.values[name], "\n")
	}
	return chosen
}

// settingFacts are a source's settings in words, for who may change them or not.
func settingFacts(s gateway.Source, manages bool) []page.Fact {
	chosen, kind := choicesOf(s.Settings), kindOfSource(s)
	var facts []page.Fact
	for _, own := range kind.Settings {
		value := chosen[own.Name]
		if value == "" && len(own.Choices) > 0 && !own.Many {
			value = own.Choices[0]
		}
		if own.Private && !manages && value != "" {
			value = "•••"
		}
		if value != "" {
			facts = append(facts, page.Fact{Name: own.Label, Value: strings.ReplaceAll(value, "\n", ", "), Code: own.Mono})
		}
	}
	if kind.Timed {
		facts = append(facts, page.Fact{Name: "Time tolerance", Value: cmp.Or(chosen[settings.Tolerance], kind.Tolerance)})
	}
	for _, common := range []struct {
		name, label, unit string
		code              bool
	}{
		{settings.PublicURL, "Public URL", "", true},
		{settings.RateLimit, "Rate limit", " a second", false},
		{settings.Addresses, "Addresses", "", true},
		{settings.ReplayGuard, "Replay guard", "", false},
	} {
		if value := chosen[common.name]; value != "" {
			if !manages && s.Token != "" {
				value = strings.ReplaceAll(value, s.Token, "…") // who may only look does not learn the ingest URL from it
			}
			facts = append(facts, page.Fact{Name: common.label, Value: strings.ReplaceAll(value, "\n", ", ") + common.unit, Code: common.code})
		}
	}
	return facts
}

// takeSource is take for the forms about sources.
func (f form) takeSource(err error, kind page.SourceKind) bool {
	fields := map[string]string{
		fieldName: fieldName, fieldUID: fieldUID, fieldSecret: fieldSecret, fieldOverlap: fieldOverlap,
	}
	for _, fault := range faultsOf(err) {
		if fault.Field == fieldSettings {
			field, message := settingFault(emptyEnds.Replace(fault.Detail), settingNames(kind))
			if field == settings.RateLimit {
				message = rateWanted
			}
			f.wrong(field, message)
			fields[fieldSettings] = field // told already: take adds nothing
		}
	}
	return f.take(err, fields, sourceSentences)
}

// rateWanted is told in place of how the API writes a rate.
var rateWanted = "Use a whole number from 1 to " + component.Number(settings.MaxPerSecond) + "."

var sourceSentences = sentences{
	{gateway.ErrUIDTaken, fieldUID, "Another source of this account has this name."},
	{gateway.ErrTooManySecrets, "", "As many secrets are valid as can be. Choose that the present ones are not kept."},
}

// settingFault finds the field that a sentence about settings begins with:
// `setting "header" is missing` is about header. One that begins otherwise is
// about the last setting that it names.
func settingFault(detail string, names []string) (field, message string) {
	parts := strings.Split(detail, `"`)
	for i := 1; i < len(parts); i += 2 {
		if !slices.Contains(names, parts[i]) {
			continue
		}
		if before := strings.TrimSpace(parts[0]); i == 1 && (before == "" || before == "setting" || before == "settings") {
			return parts[i], sentence("this" + strings.Join(parts[i+1:], `"`))
		}
		field = parts[i]
	}
	return field, sentence(detail)
}
