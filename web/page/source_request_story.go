package page

import (
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// told says what was read, or what became of it.
func (v SourceRequest) told() string {
	switch {
	case v.AcceptedAt != nil:
		return "At first: " + v.Detail
	case v.handshake() && v.Source.Kind.Back:
		return "It was answered as the provider expects. " + v.Source.Kind.backText()
	case v.handshake():
		return "It was answered as the provider expects, and is no event. Nothing is to be done."
	case v.Differs:
		return "It was answered with the first event’s id, and the first body stands. Compare it with the first event: if the difference matters, the sender uses one id for two things."
	case v.repeat() && v.Detail != "":
		return "Those were answered with the first ones’ ids and delivered nowhere; what is new in it became events. Nothing is to be done: senders repeat what they had no answer to."
	case v.repeat():
		return "It was answered with the first event’s id and delivered nowhere. Nothing is to be done: senders repeat what they had no answer to."
	case v.Header == "" || strings.Contains(v.Detail, v.Header):
		return ""
	case v.Cause == causeMissing:
		return "Rowlock looked for the header " + v.Header + "."
	default:
		return "Rowlock read the header " + v.Header + "."
	}
}

// The causes that schemes refuse requests for.
const (
	causeMissing   = "signature_missing"
	causeMalformed = "signature_malformed"
	causeMismatch  = "signature_mismatch"
	causeTime      = "timestamp_out_of_range"
)

// next says what is to be done about a refused request, by its cause and by
// what there is to know about the kind of source.
func (v SourceRequest) next() []string {
	if v.AcceptedAt != nil || v.repeat() || v.handshake() {
		return nil
	}
	steps := v.mend()
	switch {
	case v.Challenge:
		if v.Cause != causeMissing && len(v.mendSpecial()) == 0 {
			steps = append(steps, "Then have "+v.by()+" check the address again: a check cannot be accepted late.")
		}
	case v.cut():
		steps = append(steps, "Only the first part of the body was kept, so that this request cannot be accepted late: have it sent again.")
	case !v.Manages:
	case v.fault() != "":
		steps = append(steps, "Sign a request here, with Test, to see that the source itself works.")
	}
	return steps
}

// lateAfter ends the sentence that leads to accepting it late.
func (v SourceRequest) lateAfter() string {
	if v.proofFailed() {
		return " once that is mended: it is checked anew, whatever time it was signed at."
	}
	return "."
}

// proofFailed tells that something about its signature was wrong, beside its
// time.
func (v SourceRequest) proofFailed() bool {
	return v.Cause == causeMissing || v.Cause == causeMalformed || v.Cause == causeMismatch
}

// mend says what may have to be mended.
func (v SourceRequest) mend() []string {
	if steps := v.mendSpecial(); len(steps) > 0 {
		return steps
	}
	switch v.Cause {
	case causeMissing:
		return v.mendMissing()
	case causeMalformed:
		return v.mendMalformed()
	case causeMismatch:
		return v.mendMismatch()
	case causeTime:
		return v.mendTime()
	case gateway.CauseAddress:
		return []string{
			"If " + v.by() + " has a new address, add it to those that the source takes requests from.",
			"Otherwise somebody else knows the ingest URL: nothing is to be done, the request had no effect.",
		}
	case gateway.CauseReplay:
		return []string{
			"A real event can have the same body as one before it. If that is usual, shorten the source’s replay guard.",
			"Otherwise somebody has recorded a request and sent it again: nothing is to be done, it had no effect.",
		}
	default:
		return nil
	}
}

// mendSpecial is for what its cause alone does not explain: none of it has to do
// with how an event is signed.
func (v SourceRequest) mendSpecial() []string {
	switch {
	case v.Challenge && v.Source.Kind.Captured:
		return v.mendOffer()
	case v.Challenge && (v.Cause == causeMissing || v.Cause == causeMalformed || v.Source.Kind.has(settingVerifyToken)):
		return v.mendChallenge()
	case v.Source.Bereft && v.proofFailed():
		return []string{v.Source.bereftText()}
	default:
		return nil
	}
}

// settingVerifyToken is what a provider shows when it checks an address.
const settingVerifyToken = "verify_token"

// mendOffer is for a secret that was sent to a source which waits for none.
func (v SourceRequest) mendOffer() []string {
	again := "Create the webhook at " + v.by() + " again: " + v.by() + " sends its secret then."
	if v.Source.Capturing {
		return []string{"The source waits for a secret now.", again}
	}
	return []string{
		"If you are adding a webhook at " + v.by() + ", let the source take the next secret. Those that it has stay valid.", again,
		"Otherwise somebody else knows the ingest URL: nothing is to be done, the request had no effect.",
	}
}

// mendChallenge is for the check of an address that was not answered.
func (v SourceRequest) mendChallenge() []string {
	stranger := "Somebody who opens the address in a browser is refused too. Then nothing is to be done."
	if v.Source.Kind.has(settingVerifyToken) {
		return []string{"Enter the same verify token here and at " + v.by() + ", then choose “Verify and save” there again.", stranger}
	}
	return []string{"Have " + v.by() + " check the address again.", stranger}
}

func (v SourceRequest) mendMissing() []string {
	k := v.Source.Kind
	steps := []string{"Check that " + v.by() + " is set up to sign with the “" + k.Secret + "” of this source." + k.whereFrom()}
	if k.Bare {
		steps[0] = "Check that " + v.by() + " is set up to send the “" + k.Secret + "” of this source." + k.whereFrom()
	}
	if v.Header != "" {
		steps = append(steps, "Check that no proxy on the way removes "+v.Header+".")
	}
	return append(steps, "A request by hand, or of a stranger who tries addresses, is not signed either. Then nothing is to be done.")
}

// whereFrom says where the secret is found, as a sentence that follows another.
// One that was made up, or sent, is found nowhere.
func (k SourceKind) whereFrom() string {
	if k.MadeUp || k.Captured || k.SecretFrom == "" {
		return ""
	}
	return " " + k.SecretFrom
}

func (v SourceRequest) mendMalformed() []string {
	if k := v.Source.Kind; !k.Service {
		return []string{
			"Compare the settings of this source with how the sender signs.",
			"Check that no proxy on the way changes the header, or sends it twice.",
		}
	}
	return []string{
		"Check that it was " + v.by() + " that sent this: it is not signed as " + v.by() + " does, and a source of another kind may be what it needs.",
		"Check that no proxy on the way changes the header, or sends it twice.",
	}
}

func (v SourceRequest) mendMismatch() []string {
	k := v.Source.Kind
	steps := []string{v.compareSecret()}
	if !k.Service && len(k.Settings) > 0 {
		steps = append(steps, "Compare the settings of this source with how the sender signs.")
	}
	if k.URLSigned {
		steps = append(steps, "The address is signed too: the source’s public URL has to be the one that is entered at "+v.by()+", to the last character.")
	}
	if !k.BodyOpen {
		steps = append(steps, "Check that no proxy on the way changes the body, not even its spaces.")
	}
	return steps
}

// compareSecret says how a wrong secret comes about.
func (v SourceRequest) compareSecret() string {
	k := v.Source.Kind
	switch {
	case k.Captured && v.Source.Capturing:
		return "Set up the webhook anew: " + v.by() + " sends its secret then, and the source waits for it."
	case k.Captured:
		return "Let the source take the next secret, and set up the webhook anew: " + v.by() + " sends it then."
	case k.Public:
		return "Compare the “" + k.Secret + "” of this source with the one at " + v.by() + "." + k.whereFrom()
	case k.SecretAfter:
		return "Compare the “" + k.Secret + "” with the one at " + v.by() + ": it may have been changed there, or be that of another address." + k.whereFrom()
	case k.MadeUp:
		return "Compare the “" + k.Secret + "” with the one at " + v.by() + ": it may have been changed there. If neither side shows it, make up a new one and enter it at both."
	default:
		return "Compare the “" + k.Secret + "” with the one at " + v.by() + ": it may have been changed there." + k.whereFrom()
	}
}

func (v SourceRequest) mendTime() []string {
	if v.ahead() {
		return []string{"Check the clocks of " + v.by() + " and of this server: only where they differ is a signed time in the future."}
	}
	return []string{
		"Check the clocks of " + v.by() + " and of this server.",
		"A request that waited on its way comes late. If that is usual, raise the source’s time tolerance.",
		"Somebody else may also have recorded an old request and sent it again.",
	}
}

// ahead tells that it was signed in what is the future here.
func (v SourceRequest) ahead() bool { return v.Skew != nil && *v.Skew > 0 }

// by is who sends to the source.
func (v SourceRequest) by() string {
	if v.Source.Kind.Service {
		return v.Source.Kind.Name
	}
	return "the sender"
}

// remedy is a button that leads to where a refusal is mended.
type remedy struct {
	component.Button

	// Post sends it instead: it needs no question.
	Post bool
}

// remedies are the pages where a refusal can be mended.
func (v SourceRequest) remedies() []remedy {
	if !v.Manages || len(v.next()) == 0 {
		return nil
	}
	var all []remedy
	if button, ok := v.secretRemedy(); ok {
		all = append(all, button)
	}
	if field := v.editField(); field != "" {
		href := v.Source.Path + "/edit?field=" + field + "#" + field
		all = append(all, remedy{Button: component.Button{Label: "Edit source", Icon: "pencil", Size: component.Small, Href: href}})
	}
	if fault := v.fault(); fault != "" {
		all = append(all, remedy{Button: component.Button{Label: "Test", Icon: "play", Size: component.Small, Href: v.Source.Path + "/test?fault=" + fault}})
	}
	return all
}

// secretRemedy is where another secret comes from.
func (v SourceRequest) secretRemedy() (remedy, bool) {
	k := v.Source.Kind
	switch {
	case k.Secret == "", v.Cause != causeMismatch && v.Cause != causeMissing && !v.Source.Bereft, v.Challenge && v.editField() == settingVerifyToken:
		return remedy{}, false
	case k.Captured:
		button := component.Button{Label: "Take the next secret", Icon: "key-round", Size: component.Small, Href: v.Source.Path + "/capture"}
		return remedy{button, true}, !v.Source.Capturing && (v.Challenge || v.Cause == causeMismatch)
	case v.Challenge && v.Cause == causeMissing:
		return remedy{}, false
	default:
		button := component.Button{Label: v.Source.changeText(), Icon: "refresh-cw", Size: component.Small, Href: v.Source.Path + "/rotate", Dialog: true}
		return remedy{Button: button}, true
	}
}

// editField is the setting that may have to be changed; "" for none.
func (v SourceRequest) editField() string {
	k := v.Source.Kind
	own := !k.Service && len(k.Settings) > 0
	switch {
	case v.Challenge && k.has(settingVerifyToken):
		return settingVerifyToken
	case v.Challenge:
		return ""
	case v.Cause == causeMismatch && k.URLSigned:
		return "public_url"
	case (v.Cause == causeMismatch || v.Cause == causeMalformed) && own:
		return k.Settings[0].Name
	case v.Cause == causeTime && !v.ahead():
		return "tolerance"
	case v.Cause == gateway.CauseAddress:
		return "allowed_ips"
	case v.Cause == gateway.CauseReplay:
		return "replay_guard"
	default:
		return ""
	}
}

// fault is what the test console makes wrong to show the same refusal; "" where
// it cannot.
func (v SourceRequest) fault() string {
	if v.Challenge || v.Source.Kind.Secret == "" || !v.Manages {
		return ""
	}
	switch v.Cause {
	case causeMissing:
		return "unsigned"
	case causeMismatch:
		return "wrong_secret"
	case causeTime:
		return "old"
	default:
		return ""
	}
}
