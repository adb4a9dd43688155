package e2e

import (
	"math/rand/v2"
	"testing"
	"time"
)

const (
	// deleteEvery is the pace at which every job is deleted, again and again.
	deleteEvery = 100 * time.Millisecond
	// withoutJobs is within what all open work goes out when its jobs are gone.
	withoutJobs = time.Minute
)

// Every job is deleted under load, many times, and once more at its end. Jobs
// are wake-ups: nothing is lost by it, and nothing is done twice.
func TestJobsDeleted(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *rand.Rand) {
		w := newWorld(t, rng, shared, 1)
		w.publish()
		deleted, times := int64(0), between(rng, 40, 80)
		tick := time.NewTicker(deleteEvery)
		defer tick.Stop()
		for range times {
			<-tick.C
			deleted += w.deleteJobs()
		}
		w.inTheMiddle()
		deleted += w.deleteJobs()
		last := time.Now()
		w.load.end()
		deleted += w.deleteJobs()
		t.Logf("%d jobs deleted in %d turns", deleted, times+2)
		if deleted == 0 {
			t.Fatal("no job was there to be deleted: the test proves nothing")
		}
		w.settle()
		if took := time.Since(last); took > withoutJobs {
			t.Errorf("everything was out %s after the last deletion, want %s", took, withoutJobs)
		}
	})
}

func (w *world) deleteJobs() int64 {
	w.t.Helper()
	return w.database.execute(w.t, `DELETE FROM river_job`)
}
