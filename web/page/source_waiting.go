package page

import "github.com/rowlock/rowlock/internal/gateway"

// turnedAway tells that the newest request was refused, while the first event is
// waited for.
func (v Source) turnedAway() bool {
	return v.Latest != nil && v.Latest.Cause != gateway.CauseHandshake && v.Latest.Cause != gateway.CauseDuplicate
}

// goesBack tells that the provider sent a token which it wants pasted back
// before it sends anything else.
func (v Source) goesBack() bool {
	return v.Kind.Back && v.Greeted && len(v.Secrets) > 0
}

// tokenText says what is to be done with it.
func (v Source) tokenText() string {
	return "Show it on this page, and paste it at " + v.Kind.Name + " under “Verify”. Nothing else comes before that."
}

// backText says what is to be done with a token that the provider sent.
func (k SourceKind) backText() string {
	return "Show the " + lowerFirst(k.Secret) + " on the source’s page, and paste it at " + k.Name + " under “Verify”."
}
