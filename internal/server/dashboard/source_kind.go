package dashboard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// builtInKind is what is told about the source of the API.
var builtInKind = page.SourceKind{Kind: gateway.SourceKindAPI, Name: "API key", Summary: "Your own applications"}

// kindOf is what people are told about a kind. One that this version does not
// know is called by its name.
func kindOf(kind string) page.SourceKind {
	if kind == gateway.SourceKindAPI {
		return builtInKind
	}
	scheme, ok := signature.Lookup(kind)
	if !ok {
		return page.SourceKind{Kind: kind, Name: component.Word(kind), Secret: "Secret"}
	}
	i := scheme.Info()
	words := page.SourceKind{
		Kind: i.Kind, Name: i.Name, Summary: i.Summary, Service: i.Service(), Docs: i.Docs,
		Secret: i.Secret.Name, SecretFrom: i.Secret.From, SecretAfter: i.Secret.After, Public: i.Secret.Public,
		Captured: i.Secret.Captured, Back: i.Secret.Back, MadeUp: i.Secret.MadeUp,
		Timed: i.Timed, Tolerance: toleranceText(i.Tolerance), URLSigned: i.URLSigned, BodyOpen: i.BodyOpen, Bare: i.Bare, Batch: i.Batch,
		Paste: i.Steps, Key: i.Key.From, KeyScope: i.Key.Scope, KeySigned: i.Key.Signed,
		Answer: i.Answer, Retries: i.Retries, Notes: i.Notes,
	}
	for _, s := range i.Settings {
		words.Settings = append(words.Settings, page.KindSetting(s))
	}
	return words
}

// kindOfSource is kindOf under the settings of a source, where these say what
// is signed and by what repeats are known.
func kindOfSource(s gateway.Source) page.SourceKind {
	words, chosen := kindOf(s.Kind), choicesOf(s.Settings)
	has := func(name string) bool {
		return slices.ContainsFunc(words.Settings, func(own page.KindSetting) bool { return own.Name == name })
	}
	if has("id_header") {
		words.Key, words.Keyless = "the header "+chosen["id_header"], chosen["id_header"] == ""
	}
	if has("signed") {
		words.Timed = chosen["timestamp_header"] != ""
		words.URLSigned = strings.Contains(chosen["signed"], "{url}")
		words.KeySigned = strings.Contains(chosen["signed"], "{id}")
	}
	return words
}

// toleranceText is a kind's tolerance in words.
func toleranceText(tolerance time.Duration) string {
	if tolerance == signature.AnyTime {
		return "no limit"
	}
	return gateway.DurationText(cmp.Or(tolerance, signature.DefaultTolerance))
}

// catalogue are the kinds that a text finds, by group; an empty one finds all.
func catalogue(search string) []page.KindGroup {
	words := strings.Fields(strings.ToLower(search))
	var groups []page.KindGroup
	for _, group := range signature.Groups() {
		shelf := page.KindGroup{Name: string(group)}
		for _, kind := range signature.Kinds() {
			scheme, _ := signature.Lookup(kind)
			if i := scheme.Info(); i.Group == group && finds(i, words) {
				shelf.Kinds = append(shelf.Kinds, kindOf(kind))
			}
		}
		if len(shelf.Kinds) > 0 {
			groups = append(groups, shelf)
		}
	}
	return groups
}

// finds tells whether a kind has all of the words.
func finds(i *signature.Info, words []string) bool {
	text := strings.ToLower(strings.Join([]string{i.Kind, i.Name, i.Summary, i.Words, string(i.Group)}, " "))
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// popularKinds is how many kinds the page of sources offers at once: a row or
// two. The registry begins with those that people use most.
const popularKinds = 7

func popular() []page.SourceKind {
	kinds := signature.Kinds()
	all := make([]page.SourceKind, 0, popularKinds)
	for _, kind := range kinds[:min(popularKinds, len(kinds))] {
		all = append(all, kindOf(kind))
	}
	return all
}
