package signature

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// The codes of a Refusal, which are the codes of the answer to the sender.
const (
	// CodeMissing: a header that the signature needs is absent or empty.
	CodeMissing = "signature_missing"
	// CodeMalformed: a header cannot be parsed or decoded, has the wrong
	// length, comes more than once, or there is no usable time.
	CodeMalformed = "signature_malformed"
	// CodeTimestamp: the signature is right, its time is out of tolerance.
	CodeTimestamp = "timestamp_out_of_range"
	// CodeMismatch: everything else.
	CodeMismatch = "signature_mismatch"
)

// Refusal is why a request is not an event. It can be shown to anyone who may
// see the source: it holds neither a secret nor the signature that was
// expected, nor text of the sender's.
type Refusal struct {
	// Code is one of the Code constants.
	Code string
	// Header is the header that was read, or "".
	Header string
	// Detail is a sentence for people.
	Detail string
	// Status is the answer's, where it is not 401.
	Status int
	// Skew is Now minus the signed time; set for CodeTimestamp alone.
	Skew time.Duration
}

// Answer is the status of the answer to the sender.
func (r *Refusal) Answer() int { return cmp.Or(r.Status, http.StatusUnauthorized) }

// Error returns the code and the detail.
func (r *Refusal) Error() string { return r.Code + ": " + r.Detail }

func missing(header string) *Refusal {
	return &Refusal{Code: CodeMissing, Header: header, Detail: "The header " + header + " is absent or empty."}
}

func malformed(header, detail string) *Refusal {
	return &Refusal{Code: CodeMalformed, Header: header, Detail: detail}
}

// mismatch explains a signature that no secret made. A source without a secret
// gets its own words, because then the sender is not the one to look at.
func mismatch(header string, secrets []Secret) *Refusal {
	detail := "The signature was made with another secret, or the body was changed on the way."
	if len(secrets) == 0 {
		detail = "This source has no live secret."
	}
	return &Refusal{Code: CodeMismatch, Header: header, Detail: detail}
}

func outOfRange(header string, skew, tolerance time.Duration) *Refusal {
	distance, side := skew, "in the past"
	if skew < 0 {
		distance, side = -skew, "ahead of this server’s clock"
	}
	return &Refusal{
		Code:   CodeTimestamp,
		Header: header,
		Detail: fmt.Sprintf("The signature is right, but its time is %s %s; %s is allowed.", gateway.DurationText(distance.Round(time.Second)), side, gateway.DurationText(tolerance)),
		Skew:   skew,
	}
}
