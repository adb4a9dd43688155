package page

import (
	"slices"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/component"
)

// SourceKind is what people are told about a kind of source.
type SourceKind struct {
	// Kind is its name in the API.
	Kind string
	// Name is the name for people, Summary how its requests are proven.
	Name, Summary string
	// Service tells that the name is that of one service, and so a good name
	// for a source too.
	Service bool
	// Docs is the provider's page about its webhooks; "" for none.
	Docs string
	// Secret is what its secret is called there; empty for a kind without one.
	// SecretFrom says where it comes from.
	Secret, SecretFrom string
	// SecretAfter tells that the provider makes the secret, and shows it only
	// when it knows the address to send to.
	SecretAfter bool
	// Public tells that the secret is a public key, Captured that the provider
	// sends it to the ingest URL itself, Back that it wants it pasted back there,
	// and MadeUp that the operator makes it up.
	Public, Captured, Back, MadeUp bool
	// Timed tells that requests carry a signed time, or may; Tolerance is how far
	// it may be from our clock when the source says nothing else, in words.
	Timed     bool
	Tolerance string
	// URLSigned tells that the address is part of what is signed, BodyOpen that
	// the body is not, or not all of it, and Bare that nothing is: the secret
	// itself comes with each request.
	URLSigned, BodyOpen, Bare bool
	// Batch tells that one request can bring several events.
	Batch bool
	// Settings are its own, in the order of the form.
	Settings []KindSetting
	// Paste are the steps to where the ingest URL belongs.
	Paste []string
	// Key says by what repeats are known, KeyScope what shares a key; KeySigned
	// tells that the signature covers it, Keyless that under its settings nothing
	// tells repeats.
	Key, KeyScope      string
	KeySigned, Keyless bool
	// Answer and Retries are what the provider wants and does; Notes are oddities.
	Answer, Retries string
	Notes           []string
}

// KindSetting is a choice that a kind of source has.
type KindSetting struct {
	// Name is its name in the settings and in the form.
	Name, Label, Hint, Example string
	// Choices are the values to choose from, the default first; none for text.
	Choices []string
	// Many tells that several can be chosen.
	Many, Required, Private, Mono, Wide bool
	MaxLength                           int
}

// KindGroup is a shelf of the catalogue.
type KindGroup struct {
	Name  string
	Kinds []SourceKind
}

// has tells that the kind has this setting.
func (k SourceKind) has(setting string) bool {
	return slices.ContainsFunc(k.Settings, func(s KindSetting) bool { return s.Name == setting })
}

// noun is what its secret is, in one word.
func (k SourceKind) noun() string {
	if k.Public {
		return "key"
	}
	return "secret"
}

// missing says that there is no secret.
func (k SourceKind) missing() string {
	if k.Public {
		return "Key missing"
	}
	return "Secret missing"
}

// CauseWord is why a request of this kind was refused, in a word or two: where
// nothing is signed, no signature is wrong.
func (k SourceKind) CauseWord(cause string) string {
	switch {
	case k.Bare && cause == causeMismatch:
		return "Wrong secret"
	case k.Bare && cause == causeMissing:
		return "No secret"
	case k.Bare && cause == causeMalformed:
		return "Malformed secret"
	default:
		return component.Word(cause)
	}
}

// badge shows why a request of this kind was refused.
func (k SourceKind) badge(cause string) templ.Component {
	return component.BadgeText(cause, k.CauseWord(cause))
}

// options are a setting's choices.
func (s KindSetting) options() []component.Option {
	all := make([]component.Option, len(s.Choices))
	for i, choice := range s.Choices {
		all[i] = component.Option{Value: choice, Label: choice}
	}
	return all
}

// generalKey is what kinds with settings of their own say while nothing is
// chosen yet.
const generalKey = "the header that the settings name"

// keyCovered says whether what repeats are known by is signed.
func (k SourceKind) keyCovered() string {
	switch {
	case k.has("signed") && k.Key == generalKey:
		return "It is signed if {id} is part of what is signed."
	case k.KeySigned:
		return "It is signed, so that only the sender can make a new one."
	case k.Bare:
		return "Nothing is signed: who has recorded a request could send it again under another."
	default:
		return "It is not signed: who has recorded a request could send it again under another."
	}
}
