package decide

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// tell has the guard of facts judge what events report, in the order in which
// they came, and returns the facts that they made new. One that made its fact new
// when it was decided before, and was told to nobody, is not judged again.
func (s *Service) tell(ctx context.Context, tx store.Tx, ruled []*understood, ended verdicts) (map[gateway.EventID]gateway.FactID, error) {
	var reports []store.Report
	for _, u := range ruled {
		if _, over := ended[u.event.ID]; over || !u.reports() || u.toldBefore() {
			continue
		}
		reports = append(reports, store.Report{
			Report: u.rule.Report(u.State), AccountID: u.event.AccountID, SourceID: u.event.SourceID,
			Subject: u.Subject, EventID: u.event.ID, FactID: gateway.FactID(s.clock.NewID()),
		})
	}
	reported, err := tx.TellFacts(ctx, reports)
	if err != nil {
		return nil, err
	}
	told := map[gateway.EventID]gateway.FactID{}
	for i, r := range reported {
		if r.Status == gateway.EventProcessed {
			told[reports[i].EventID] = r.Fact.ID
			continue
		}
		ended[reports[i].EventID] = verdict{r.Status, r.Fact.Refusal(r.Status, reports[i].State)}
	}
	return told, nil
}

// reports tells that the event says something of a subject.
func (u *understood) reports() bool { return u.Subject != "" && u.State != "" }

// toldBefore tells that the fact is the event's own already.
func (u *understood) toldBefore() bool {
	return u.event.Told != nil && u.event.ToldState == u.State && u.event.Subject == u.Subject
}

// await puts off the events whose rule asks for a subject that is known, and
// whose subject is not, and ends those that were put off often enough. One that
// is about the subject, and reports nothing of it, makes it known to those that
// came after it.
func await(ctx context.Context, tx store.Tx, events []store.Undecided, ruled []*understood, ended verdicts) error {
	waiting := map[gateway.EventID]*understood{}
	for _, u := range ruled {
		if _, over := ended[u.event.ID]; !over && u.needsSubject() {
			waiting[u.event.ID] = u
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	missing, asked := withoutSubject(events, ruled, waiting, ended)
	known, err := tx.KnownSubjects(ctx, asked, idsOf(pointers(events)))
	if err != nil {
		return err
	}
	for i, u := range missing {
		if !known[i] {
			ended[u.event.ID] = u.unmet()
		}
	}
	return nil
}

// needsSubject tells that the event is not told before something else was told of
// its subject. One that made its fact new needs nothing more.
func (u *understood) needsSubject() bool {
	return u.rule.Awaits(u.Subject, u.State) && !u.toldBefore()
}

// subjectKey is a subject of an account.
type subjectKey struct {
	account gateway.AccountID
	subject string
}

// withoutSubject are the events that wait and whose subject no event before them
// in the batch makes known.
func withoutSubject(events []store.Undecided, ruled []*understood, waiting map[gateway.EventID]*understood, ended verdicts) (missing []*understood, asked []store.SubjectRef) {
	subjects := map[gateway.EventID]string{}
	for _, u := range ruled {
		subjects[u.event.ID] = u.Subject
	}
	known := map[subjectKey]bool{}
	for i := range events {
		e := &events[i]
		subject, ruled := subjects[e.ID]
		if !ruled {
			subject = e.Subject
		}
		key := subjectKey{e.AccountID, subject}
		u := waiting[e.ID]
		if _, over := ended[e.ID]; u == nil && !over {
			known[key] = true
		}
		if u != nil && !known[key] {
			missing = append(missing, u)
			asked = append(asked, store.SubjectRef{AccountID: e.AccountID, EventID: e.ID, Subject: subject})
		}
	}
	return missing, asked
}

// unmet is what becomes of an event whose subject is not there.
func (u *understood) unmet() verdict {
	if n := u.event.Waits; n < len(gateway.FactWaits) {
		return verdict{gateway.EventAccepted, fmt.Sprintf("nothing else has told of %s yet: it is looked for again after %s", u.Subject, inWords(gateway.FactWaits[n]))}
	}
	return verdict{gateway.EventUnresolved, "nothing else has told of " + u.Subject}
}

func inWords(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()))
}

// putOff puts the events that wait back, each with a job of its own.
func putOff(ctx context.Context, tx store.Tx, events []store.Undecided, ended verdicts) error {
	var ids []gateway.EventID
	var waits []time.Duration
	var reasons []string
	for i := range events {
		e := &events[i]
		if v, ok := ended[e.ID]; ok && v.status == gateway.EventAccepted {
			ids = append(ids, e.ID)
			waits = append(waits, gateway.FactWaits[e.Waits])
			reasons = append(reasons, v.reason)
		}
	}
	if err := tx.PutOff(ctx, ids, waits, reasons); err != nil {
		return err
	}
	for i, id := range ids {
		if err := tx.EnqueueIn(ctx, waits[i], job.Process{EventIDs: []gateway.EventID{id}}); err != nil {
			return err
		}
	}
	return nil
}

// lateKey is the key of an event that was read when it was decided. Its content
// is not compared with that of a repeat: both are there to be looked at.
func lateKey(u *understood) store.EventKey {
	return store.EventKey{
		AccountID: u.event.AccountID, SourceID: u.event.SourceID,
		KeyHash: sha256.Sum256([]byte(u.named.Key)), EventID: u.event.ID,
	}
}

func sortKeys(keys []store.EventKey) { slices.SortFunc(keys, store.CompareKeys) }

func pointers(events []store.Undecided) []*store.Undecided {
	all := make([]*store.Undecided, len(events))
	for i := range events {
		all[i] = &events[i]
	}
	return all
}
