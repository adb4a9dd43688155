package gateway

// Cause says why an attempt failed, so that failures of the same kind can be
// listed and counted together: the answer's status code, or why none came. The
// zero value is the cause of an unknown outcome.
type Cause struct {
	// ErrorKind is why no answer came; empty when one did.
	ErrorKind ErrorKind
	// StatusCode is the answer's; zero when none came.
	StatusCode int
}

// Outcome is that of the failed attempts which have the cause.
func (c Cause) Outcome() Outcome {
	switch {
	case c.ErrorKind != "":
		return OutcomeUnreachable
	case c.StatusCode != 0:
		return OutcomeRejected
	}
	return OutcomeUnknown
}

// Cause is why the attempt failed; of one that succeeded, its status code.
func (a Attempt) Cause() Cause { return Cause{ErrorKind: a.ErrorKind, StatusCode: a.StatusCode} }
