package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Lanes is who sends for which endpoint and what the queue has to do, for the
// instance's owner.
type Lanes struct {
	layout.Frame
	Now   time.Time
	Nodes []LaneNode
	// Held, Sleeping, Waiting and Stuck count all lanes.
	Held, Sleeping, Waiting, Stuck int
	// Rows are the first of them: the stuck ones, then those that are held.
	Rows []Lane
	// Workers are how many nodes are alive that could take a lane.
	Workers int
	Jobs    []LaneJobs
	// Console is where all jobs are; empty for nowhere.
	Console string
}

// LaneNode is a process.
type LaneNode struct {
	Name, Roles, Version string
	SeenAt, SteadySince  time.Time
	StartedAt            time.Time
	Alive, Steady        bool
	Held                 int
}

// Lane is one endpoint's turn to be sent to.
type Lane struct {
	ID, Endpoint, Account, AccountID string
	// Path is the endpoint's page; empty where the reader is no member.
	Path string
	// Node holds it since HeldSince until LeasedUntil; empty for nobody.
	Node                   string
	HeldSince, LeasedUntil *time.Time
	// WakeAt is the alarm, SleepUntil the end of a pause.
	WakeAt, SleepUntil *time.Time
	Fence              int64
	// Cap is how many requests go out at once now, of at most Most.
	Cap, Most    int
	FailedProbes int
	TimingOut    bool
	// Stuck tells that somebody should have taken it long ago.
	Stuck bool
	// Wake is where it is woken; empty for one that needs none.
	Wake string
}

// LaneJobs is how many jobs of a kind are in a state. More tells that there are
// more of the state than were counted.
type LaneJobs struct {
	Queue, Kind, State string
	Jobs               int
	More               bool
	// Oldest is when the first of them was to run.
	Oldest time.Time
}

// badge is the look and the word of how a lane stands.
func (l Lane) badge() (look, word string) {
	switch {
	case l.Stuck:
		return "failing", "Needs attention"
	case l.Node != "":
		return "active", "Held"
	case l.SleepUntil != nil:
		return "held", "Sleeping"
	default:
		return "pending", "Waiting"
	}
}

// why says why it stands so; empty where the state says it all.
func (l Lane) why(now time.Time) string {
	switch {
	case l.Stuck && l.LeasedUntil != nil:
		return "The lease ended " + component.Duration(now.Sub(*l.LeasedUntil).Round(time.Second)) + " ago and no node took over."
	case l.Stuck && l.WakeAt != nil:
		return "Its alarm was " + component.Duration(now.Sub(*l.WakeAt).Round(time.Second)) + " ago and no node answered it."
	case l.Stuck:
		return "Deliveries are due and no alarm is set. Rowlock repairs that within a minute."
	case l.FailedProbes > 0 && l.TimingOut:
		return component.Plural(l.FailedProbes, "probe", "probes") + " without an answer in time, one after the other."
	case l.FailedProbes > 0:
		return component.Plural(l.FailedProbes, "probe", "probes") + " failed, one after the other."
	case l.TimingOut:
		return "The last answer that was missing had timed out."
	default:
		return ""
	}
}

// advice says what to do about lanes that need attention.
func (v Lanes) advice() string {
	if v.Workers == 0 {
		return "No node with the role worker is alive, so nothing is sent. Start one: rowlock serve, or rowlock serve --roles worker."
	}
	return "Wake them first. One that stays so has a node that hangs: its log says why, and when that process is ended another one takes its lanes over within 15 seconds."
}

// badge is the look and the word of how a node is.
func (n LaneNode) badge() (look, word string) {
	switch {
	case !n.Alive:
		return "ended", "Not seen"
	case !n.Steady:
		return "pending", "Settling"
	default:
		return "active", "Alive"
	}
}

// jobBadge is the look and the word of a job's state.
func jobBadge(state string) (look, word string) {
	switch state {
	case "available":
		return "pending", "Available"
	case "running":
		return "active", "Running"
	case "scheduled", "pending":
		return "pending", "Scheduled"
	case "retryable":
		return "retrying", "Retryable"
	case "completed":
		return "ended", "Completed"
	case "cancelled":
		return "cancelled", "Cancelled"
	case "discarded":
		return "failed", "Discarded"
	default:
		return "unknown", state
	}
}
