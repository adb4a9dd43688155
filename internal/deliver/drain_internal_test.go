package deliver

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// A drain that was poked after its last look goes on; one that was not is
// forgotten, so that the next wake-up makes a new one.
func TestDrainEndsOnlyWhenNobodyPoked(t *testing.T) {
	t.Parallel()
	ref := store.LaneRef{EndpointID: gateway.EndpointID{0: 1}}
	for name, c := range map[string]struct {
		running bool
		pokes   int
		ended   []bool // what each end in turn says
	}{
		"not poked":       {true, 0, []bool{true}},
		"poked":           {true, 1, []bool{false, true}},
		"poked often":     {true, 9, []bool{false, true}},
		"the node stops":  {false, 0, []bool{true}},
		"poked at a stop": {false, 1, []bool{true}},
	} {
		s := New(Options{Workers: 1})
		s.running = c.running
		d := newDrain(s, ref)
		s.drains[ref.EndpointID] = d
		for range c.pokes {
			d.poke()
		}
		for i, want := range c.ended {
			if got := s.ended(d); got != want || (s.drains[ref.EndpointID] == nil) != want {
				t.Errorf("%s: end %d says %t, want %t", name, i+1, got, want)
			}
		}
	}
}

// A drain that is there is poked by a wake-up, and no second one is made.
func TestWakePokesTheDrainThatIsThere(t *testing.T) {
	t.Parallel()
	ref := store.LaneRef{EndpointID: gateway.EndpointID{0: 1}}
	s := New(Options{Workers: 1})
	d := newDrain(s, ref)
	s.drains[ref.EndpointID] = d
	s.Wake([]store.LaneRef{ref})
	if d.poked() {
		t.Error("a node that does not run was woken")
	}
	s.running = true
	s.Wake([]store.LaneRef{ref, ref})
	if !d.poked() || d.poked() || s.drains[ref.EndpointID] != d {
		t.Error("the drain was not poked, or another one was made")
	}
}
