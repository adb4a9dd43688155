package gateway

// Progress says how far an event got on its way to all of its endpoints
// together, in one word: the worst of what its deliveries say.
type Progress string

// How far an event can have got. What was given up comes first, then what is
// tried again, then what waits.
const (
	ProgressFailed     Progress = "failed"
	ProgressHeld       Progress = "held"
	ProgressRetrying   Progress = "retrying"
	ProgressPending    Progress = "pending"
	ProgressDelivered  Progress = "delivered"
	ProgressSuppressed Progress = "suppressed"
	// ProgressCancelled: all were cancelled, or have expired.
	ProgressCancelled Progress = "cancelled"
)

// Progresses lists those that events can be looked for by.
var Progresses = []Progress{ProgressFailed, ProgressRetrying, ProgressPending, ProgressDelivered}
