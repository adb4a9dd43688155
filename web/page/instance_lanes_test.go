package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/page"
)

func TestLanesPage(t *testing.T) {
	t.Parallel()
	soon := noon.Add(8 * time.Second)
	for _, n := range []int{0, 1, 100} {
		v := page.Lanes{Frame: framed(), Now: noon, Workers: 1, Held: n, Waiting: n, Console: "/instance/jobs/"}
		for i := range n {
			v.Rows = append(v.Rows, page.Lane{ID: fmt.Sprintf("ep_%d", i), Endpoint: "Billing", Account: "Acme", Node: "node-1", HeldSince: &noon, LeasedUntil: &soon, Cap: 4, Most: 64})
			v.Nodes = append(v.Nodes, page.LaneNode{Name: "node-1", Roles: "worker", SeenAt: noon, SteadySince: noon, StartedAt: noon, Alive: true, Steady: true})
			v.Jobs = append(v.Jobs, page.LaneJobs{Queue: "deliver", Kind: "deliver", State: "available", Jobs: 3, Oldest: noon})
		}
		d := drawn(t, page.LanesPage(v))
		for _, table := range []string{"lanes", "nodes", "jobs"} {
			wantNumber(t, d, "#"+table+" tbody tr", n)
		}
		wantNumber(t, d, "#lanes form", 0) // a held one is not to be woken
		wantWords(t, d, "#attention", "Nothing is stuck.")
		wantNumber(t, d, "a[href='/instance/jobs/']", 1)
		if n == 100 {
			wantWords(t, d, "#lanes ~ *, .card-foot", "100 of 200 lanes")
		}
	}
}

// Each way to stand is told in words: what it is, why, and what to do.
func TestLaneStates(t *testing.T) {
	t.Parallel()
	ago := func(d time.Duration) *time.Time { at := noon.Add(-d); return &at }
	for name, c := range map[string]struct {
		lane  page.Lane
		wants []string
	}{
		"held":            {page.Lane{Node: "n", HeldSince: ago(time.Minute), LeasedUntil: ago(-8 * time.Second), Cap: 4, Most: 64}, []string{"Held", "lease 8 s", "4 of 64"}},
		"slow":            {page.Lane{Node: "n", LeasedUntil: ago(-8 * time.Second), TimingOut: true}, []string{"Held", "had timed out"}},
		"sleeping":        {page.Lane{SleepUntil: ago(-30 * time.Second), FailedProbes: 6, Wake: "/wake"}, []string{"Sleeping", "6 probes failed", "nobody", "sleeps 30 s"}},
		"sleeping, slow":  {page.Lane{SleepUntil: ago(-30 * time.Second), FailedProbes: 1, TimingOut: true, Wake: "/wake"}, []string{"1 probe without an answer in time"}},
		"waiting":         {page.Lane{WakeAt: ago(-5 * time.Minute), Wake: "/wake"}, []string{"Waiting", "alarm 5 m"}},
		"alarm overdue":   {page.Lane{Stuck: true, WakeAt: ago(time.Minute), Wake: "/wake"}, []string{"Needs attention", "Its alarm was 1 m ago", "no node answered it"}},
		"lease abandoned": {page.Lane{Stuck: true, Node: "n", LeasedUntil: ago(20 * time.Second), Wake: "/wake"}, []string{"Needs attention", "The lease ended 20 s ago", "no node took over"}},
		"silent":          {page.Lane{Stuck: true, Wake: "/wake"}, []string{"Needs attention", "no alarm is set", "none"}},
	} {
		c.lane.ID, c.lane.AccountID = "ep_1", "acc_1"
		d := drawn(t, page.LanesPage(page.Lanes{Frame: framed(), Now: noon, Rows: []page.Lane{c.lane}}))
		said := words(d.Find("#ep_1"))
		for _, want := range c.wants {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q does not say %q", name, said, want)
			}
		}
		buttons := 0
		if c.lane.Wake != "" {
			buttons = 1
		}
		wantNumber(t, d, `#ep_1 form[method="post"][action="/wake"] input[name="account"][value="acc_1"]`, buttons)
	}
}

func TestLanesPageSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]page.Lanes{
		"Nobody sends. No node with the role worker":        {},
		"3 lanes need attention. No node":                   {Stuck: 3},
		"1 lane needs attention. Wake them first. One that": {Stuck: 1, Workers: 2},
	} {
		v.Frame, v.Now = framed(), noon
		wantWords(t, drawn(t, page.LanesPage(v)), "#attention", want)
	}
}
