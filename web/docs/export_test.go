package docs

import (
	"regexp"
)

// Parse reads one page, for tests.
func Parse(slug, text string) (*Page, error) { return parse(slug, text) }

var place = regexp.MustCompile(`(?m)^\{\{([a-z-]+)\}\}$`)

// Placeholders are a text for every place that others fill.
func Placeholders() map[string]string {
	texts := map[string]string{}
	entries, _ := files.ReadDir(".") // what is embedded can be read
	for _, entry := range entries {
		text, _ := files.ReadFile(entry.Name())
		for _, found := range place.FindAllSubmatch(text, -1) {
			texts[string(found[1])] = "Here stands the text of others."
		}
	}
	return texts
}
