package page

import (
	"github.com/rowlock/rowlock/internal/gateway"
)

// told says what was read, or what became of it.
func (v SourceRequest) told() string {
	switch {
	case v.AcceptedAt != nil:
		return "At first: " + lowerFirst(v.Detail)
	case v.handshake():
		return "It was answered as the provider expects, and is no event. Nothing is to be done."
	case v.Differs:
		return "It was answered with the first event’s id, and the first body stands. Compare it with the first event: if the difference matters, the sender uses one id for two things."
	case v.repeat() && v.Detail != "":
		return "Those were answered with the first ones’ ids and delivered nowhere; what is new in it became events. Nothing is to be done: senders repeat what they had no answer to."
	case v.repeat():
		return "It was answered with the first event’s id and delivered nowhere. Nothing is to be done: senders repeat what they had no answer to."
	case v.Header == "":
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
	case v.cut():
		steps = append(steps, "Only the first part of the body was kept, so that this request cannot be accepted late: have it sent again.")
	case v.Manages && v.proofFailed():
		steps = append(steps, "If this request is real, accept it late once that is mended: it is checked anew, whatever time it was signed at.")
	case v.Manages:
		steps = append(steps, "If this request is real, accept it late.")
	}
	return steps
}

// proofFailed tells that something about its signature was wrong, beside its
// time.
func (v SourceRequest) proofFailed() bool {
	return v.Cause == causeMissing || v.Cause == causeMalformed || v.Cause == causeMismatch
}

// mend says what may have to be mended.
func (v SourceRequest) mend() []string {
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

func (v SourceRequest) mendMissing() []string {
	k := v.Source.Kind
	steps := []string{"Check that " + v.by() + " is set up to sign with the “" + k.Secret + "” of this source. " + k.SecretFrom}
	if v.Header != "" {
		steps = append(steps, "Check that no proxy on the way removes "+v.Header+".")
	}
	return append(steps, "A request by hand, or of a stranger who tries addresses, is not signed either. Then nothing is to be done.")
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
	var steps []string
	switch {
	case k.Captured:
		steps = append(steps, "Let the source take the next secret, and set up the webhook anew: "+v.by()+" sends it then.")
	case k.Public:
		steps = append(steps, "Compare the “"+k.Secret+"” of this source with the one at "+v.by()+". "+k.SecretFrom)
	case k.SecretAfter:
		steps = append(steps, "Compare the “"+k.Secret+"” with the one at "+v.by()+": it may have been changed there, or be that of another address. "+k.SecretFrom)
	default:
		steps = append(steps, "Compare the “"+k.Secret+"” with the one at "+v.by()+": it may have been changed there. "+k.SecretFrom)
	}
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

func (v SourceRequest) mendTime() []string {
	if v.Skew != nil && *v.Skew > 0 {
		return []string{"Check the clocks of " + v.by() + " and of this server: only where they differ is a signed time in the future."}
	}
	return []string{
		"Check the clocks of " + v.by() + " and of this server.",
		"A request that waited on its way comes late. If that is usual, raise the source’s time tolerance.",
		"Somebody else may also have recorded an old request and sent it again.",
	}
}

// by is who sends to the source.
func (v SourceRequest) by() string {
	if v.Source.Kind.Service {
		return v.Source.Kind.Name
	}
	return "the sender"
}

// remedies are the pages where a refusal can be mended.
func (v SourceRequest) remedies() (change, edit bool) {
	if !v.Manages || len(v.mend()) == 0 {
		return false, false
	}
	k := v.Source.Kind
	switch v.Cause {
	case causeMismatch:
		return k.Secret != "", k.URLSigned || !k.Service && len(k.Settings) > 0
	case causeMissing:
		return k.Secret != "", false
	default:
		return false, true
	}
}
