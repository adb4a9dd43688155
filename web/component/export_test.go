package component

import "strings"

// HasLook tells whether a state stands in the table of looks.
func HasLook(state string) bool {
	_, ok := looks[state]
	return ok
}

// HasIcon tells whether a drawing stands in the table of icons.
func HasIcon(name string) bool {
	_, ok := iconPaths[name]
	return ok
}

// SampleBins is the kit's day of traffic.
var SampleBins = kitBins

// SnippetText colours an example and returns its HTML, line by line.
func SnippetText(lang, code string) string { return strings.Join(snippetLines(lang, code), "\n") }

// RoundTop is the upper end of a chart whose highest bar is given.
var RoundTop = roundTop
