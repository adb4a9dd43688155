package component

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// look is how a state is shown: never by colour alone.
type look struct{ tone, shape, word string }

// looks are the states that have a look of their own, by the name that the
// API gives them. A filled shape is an end that was reached or a thing that is
// well, a half one is under way, a three-quarter one waits, a square is bad, a
// diamond is bad for good, a ring is idle, a double square is a repetition.
var looks = map[string]look{
	// What became of an event.
	"accepted":       {"info", "half", "Accepted"},
	"processed":      {"ok", "disc", "Processed"},
	"ignored":        {"idle", "ring", "Ignored"},
	"duplicate_fact": {"dup", "double", "Duplicate fact"},
	"stale_fact":     {"dup", "double", "Stale fact"},
	"rule_error":     {"bad", "square", "Rule error"},
	"unresolved":     {"warn", "quarter", "Unresolved"},
	"no_endpoints":   {"idle", "ring", "No endpoints"},

	// How far a delivery got.
	"pending":    {"idle", "ring", "Pending"},
	"sending":    {"info", "half", "Sending"},
	"retrying":   {"warn", "quarter", "Retrying"},
	"held":       {"idle", "pause", "Held"},
	"delivered":  {"ok", "disc", "Delivered"},
	"failed":     {"bad", "diamond", "Failed"},
	"suppressed": {"dup", "double", "Suppressed"},
	"cancelled":  {"idle", "ring", "Cancelled"},
	"expired":    {"warn", "diamond", "Expired"},

	// How an attempt ended.
	"succeeded":   {"ok", "disc", "Succeeded"},
	"rejected":    {"bad", "square", "Rejected"},
	"unreachable": {"bad", "diamond", "Unreachable"},
	"unknown":     {"warn", "quarter", "Unknown"},

	// Endpoints and sources.
	"active":   {"ok", "disc", "Active"},
	"failing":  {"bad", "square", "Failing"},
	"degraded": {"warn", "quarter", "Degraded"},
	"paused":   {"idle", "pause", "Paused"},
	"disabled": {"bad", "ring", "Disabled"},

	// Whether somebody listens.
	"connected":    {"ok", "disc", "Connected"},
	"disconnected": {"idle", "ring", "Nobody listens"},

	// Bulk operations.
	"counting": {"info", "quarter", "Counting"},
	"running":  {"info", "half", "Running"},
	"done":     {"ok", "disc", "Done"},
	"stopped":  {"idle", "ring", "Stopped"},

	// Claims; one that is done is told as an operation that is.
	"in_progress": {"info", "half", "In progress"},
	"lease_ended": {"warn", "quarter", "Lease ended"},
	"released":    {"idle", "ring", "Released"},
	// Reconciliations, and why something is missing at the partner.
	"uploading":     {"info", "quarter", "Uploading"},
	"comparing":     {"info", "half", "Comparing"},
	"never_created": {"warn", "ring", "Never created"},
	"failed_over":   {"warn", "diamond", "Failed over"},
	"open":          {"info", "half", "Still open"},

	// Secrets and keys.
	"current":  {"ok", "disc", "Current"},
	"previous": {"warn", "quarter", "Previous"},
	"ended":    {"idle", "ring", "Ended"},
	"revoked":  {"idle", "ring", "Revoked"},

	// Whether and why a request became an event.
	"verified":               {"ok", "disc", "Verified"},
	"none":                   {"idle", "ring", "Not verified"},
	"duplicate":              {"dup", "double", "Duplicate"},
	"signature_missing":      {"bad", "square", "No signature"},
	"signature_malformed":    {"bad", "square", "Malformed signature"},
	"signature_mismatch":     {"bad", "diamond", "Wrong signature"},
	"timestamp_out_of_range": {"warn", "square", "Time out of range"},
	"address_not_allowed":    {"bad", "square", "Address not allowed"},
	"body_replayed":          {"bad", "square", "Body replayed"},
	"handshake":              {"ok", "disc", "Handshake"},
}

// lookOf returns how to show a state. One that is not known is shown neutrally
// by its name.
func lookOf(state string) look {
	if l, ok := looks[state]; ok {
		return l
	}
	return look{"idle", "ring", sentence(state)}
}

// Word is a state's name for people: "Duplicate fact" for "duplicate_fact".
func Word[S ~string](state S) string { return lookOf(string(state)).word }

// maxWord is how much of an unknown state's name is shown, in characters.
const maxWord = 40

// sentence makes words of a name: "no_such_host" becomes "No such host".
func sentence(name string) string {
	words := Shorten(strings.ReplaceAll(name, "_", " "), maxWord)
	first, size := utf8.DecodeRuneInString(words)
	switch {
	case words == "":
		return "–"
	case first == utf8.RuneError:
		return words
	default:
		return string(unicode.ToUpper(first)) + words[size:]
	}
}

// codeTone is the tone of an HTTP status.
func codeTone(code int) string {
	if code >= 200 && code < 300 {
		return "ok"
	}
	return "bad"
}
