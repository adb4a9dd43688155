package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"
)

const (
	// askEvery is the pace at which work is asked for that is done by jobs.
	askEvery = 500 * time.Millisecond
	// withoutJobs is within what all open work goes out when its jobs are gone.
	withoutJobs = time.Minute
)

// Every job is deleted under load as soon as it is there, for a while. Jobs are
// wake-ups: nothing is lost by it, and nothing is done twice.
func TestJobsDeleted(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *rand.Rand) {
		w := newWorld(t, rng, shared, 1)
		began := time.Now()
		w.deleteJobs()
		w.publish()
		var asked []operationObject
		tick := time.NewTicker(askEvery)
		defer tick.Stop()
		for range between(rng, 8, 16) {
			<-tick.C
			asked = append(asked, w.count(began))
		}
		w.inTheMiddle()
		w.load.end()
		deleted := w.keepJobs()
		last := time.Now()
		t.Logf("%d jobs deleted", deleted)
		if deleted < len(asked) {
			t.Errorf("%d jobs were deleted, and %d asked for", deleted, len(asked))
		}
		w.settle()
		for _, o := range asked {
			waitFor(t, patience, "a count ends whose job was deleted", func() bool {
				return want[operationObject](t, w.account, http.StatusOK, http.MethodGet, "/operations/"+o.ID, "").State == "done"
			})
		}
		if took := time.Since(last); took > withoutJobs {
			t.Errorf("everything was out %s after the last deletion, want %s", took, withoutJobs)
		}
	})
}

// count asks for what an endpoint never got to be counted, which a job does; no
// more is done about it.
func (w *world) count(since time.Time) operationObject {
	w.t.Helper()
	return want[operationObject](w.t, w.account, http.StatusAccepted, http.MethodPost, "/endpoints/"+w.endpoints[0]+"/recover",
		fmt.Sprintf(`{"since":%q,"only":"missing","dry_run":true}`, since.UTC().Format(time.RFC3339)))
}

// deleteJobs has the database delete every job in the transaction that makes it,
// and those that are there.
func (w *world) deleteJobs() {
	w.t.Helper()
	for _, sql := range []string{
		`CREATE SEQUENCE deleted_jobs`,
		`CREATE FUNCTION delete_job() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			DELETE FROM river_job WHERE id = NEW.id;
			PERFORM nextval('deleted_jobs');
			RETURN NULL;
		END $$`,
		`CREATE TRIGGER delete_job AFTER INSERT ON river_job FOR EACH ROW EXECUTE FUNCTION delete_job()`,
		`DELETE FROM river_job`,
	} {
		w.database.execute(w.t, sql)
	}
}

// keepJobs ends the deletion, and tells how many jobs it was.
func (w *world) keepJobs() (deleted int) {
	w.t.Helper()
	w.database.execute(w.t, `DROP TRIGGER delete_job ON river_job`)
	return query[struct{ N int }](w.t, w.database.url(), `SELECT nextval('deleted_jobs')::int - 1`)[0].N
}
