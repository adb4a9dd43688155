package signature

import "time"

// Group is a shelf of the catalogue of kinds.
type Group string

// The groups, as people read them.
const (
	GroupCode      Group = "Code and operations"
	GroupPayments  Group = "Payments and commerce"
	GroupMessaging Group = "Messages and calls"
	GroupWork      Group = "Work and customers"
	GroupIdentity  Group = "Identity"
	GroupGeneric   Group = "Any sender"
)

// Groups lists the groups in the order of the catalogue.
func Groups() []Group {
	return []Group{GroupCode, GroupPayments, GroupMessaging, GroupWork, GroupIdentity, GroupGeneric}
}

// Info is what people and programs are told about a kind of source.
type Info struct {
	// Kind is its name, as stored and as the API shows it.
	Kind string
	// Name is the name for people.
	Name string
	// Summary says in a few words how its requests are proven.
	Summary string
	// Group is its shelf in the catalogue.
	Group Group
	// Words are other words by which people look for it, parted by spaces.
	Words string
	// Docs is the provider's own page about its webhooks; "" for generic kinds.
	Docs string

	// Secret describes what proves requests. Its Name is "" for a kind without.
	Secret SecretInfo
	// SecretHeaders are the headers that are themselves the secret and must
	// not be stored, beyond Authorization and Cookie, which never are.
	SecretHeaders []string
	// SecretQuery are the parameters of the query that are themselves a secret
	// and must not be stored.
	SecretQuery []string
	// Settings are the kind's own settings, in the order of the form.
	Settings []Setting
	// Timed tells that a time is signed, or may be; Tolerance is how far it may
	// be from our clock when the source says nothing else. Zero is
	// DefaultTolerance, AnyTime no limit.
	Timed     bool
	Tolerance time.Duration
	// BodyOpen tells that a signature leaves the body open, or parts of it.
	BodyOpen bool
	// Bare tells that nothing is signed: the secret itself comes with each
	// request.
	Bare bool
	// URLSigned tells that the address is part of what is signed, so that the
	// source must know its public address exactly.
	URLSigned bool
	// Methods are the methods that are taken beside POST, PUT and PATCH.
	Methods []string
	// Batch tells that one request can bring several events.
	Batch bool

	// Steps lead to the exact place where the ingest URL belongs.
	Steps []string
	// Protects says in a sentence what a signature covers.
	Protects string
	// Key tells how repeats are known.
	Key KeyInfo
	// Answer says what the provider wants as an answer, and within which time.
	Answer string
	// Retries says what the provider does when it gets no such answer.
	Retries string
	// Notes are oddities that an operator should know, a sentence each.
	Notes []string
}

// NeedsSecret tells whether a source of the kind is made with a secret.
func (i *Info) NeedsSecret() bool { return i.Secret.Name != "" && !i.Secret.Captured }

// Service tells that the name is that of one service.
func (i *Info) Service() bool { return i.Group != GroupGeneric }

// SecretInfo describes the secret of a kind.
type SecretInfo struct {
	// Name is what it is called at the provider; From says where it comes from.
	Name, From string
	// After tells that the provider makes it, and shows it only when it knows
	// the address to send to.
	After bool
	// Public tells that it is a public key: only the provider can sign.
	Public bool
	// Captured tells that the provider sends it to the ingest URL in a
	// handshake, so that nobody has to paste it; Back that it wants it pasted
	// back there before it sends anything else.
	Captured, Back bool
	// MadeUp tells that the operator makes it up, and enters it at both sides.
	MadeUp bool
}

// KeyInfo says how repeats of an event are known.
type KeyInfo struct {
	// From says in words where the key comes from: "X-GitHub-Delivery".
	From string
	// Signed tells whether the signature covers it.
	Signed bool
	// Scope is a sentence about what shares a key and what does not; often "".
	Scope string
}

// Setting is a choice that a kind has beside those of every kind. Its value in
// the settings is a text, or a list of texts where Many is set.
type Setting struct {
	// Name is its name in the settings; Label and Hint are for the form.
	Name, Label, Hint string
	// Example is a value as it may look.
	Example string
	// Choices are the values to choose from, the default first; none for free
	// text.
	Choices []string
	// Many tells that several of the choices can be chosen at once.
	Many     bool
	Required bool
	// Private keeps the value from those who may only read.
	Private bool
	// Mono shows it as text for machines; Wide gives it a line of its own.
	Mono, Wide bool
	// MaxLength is in bytes; 0 for no limit of its own.
	MaxLength int
}
