package reconcile_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/store"
)

// plant makes n events of which every seventh is not in the list that it
// returns, which has every ninth twice and every eleventh besides of nobody's.
func (b *bundle) plant(t testing.TB, n int) (string, numbers) {
	t.Helper()
	all, want := make([]sent, n), numbers{Ours: n}
	var list strings.Builder
	row := func(key string) {
		list.WriteString(key + "\n")
		want.Rows++
	}
	for i := range n {
		key := fmt.Sprintf("key-%d", i)
		all[i] = sent{key: key, delivery: gateway.DeliveryPending}
		if i%7 == 0 {
			want.Missing++
		} else {
			row(key)
			want.Matched++
		}
		if i%7 != 0 && i%9 == 0 {
			row(key)
			want.Repeated++
		}
		if i%11 == 0 {
			row("strange-" + key)
			want.Unknown++
		}
	}
	b.send(t, all...)
	return list.String(), want
}

// planted is how many events need several steps.
const planted = 5000

func TestWhoeverRunsItTheNumbersAreTheSame(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	list, planned := b.plant(t, planted)
	id := b.create(t, b.comparison(gateway.MatchByKey), list)
	pgtest.AtOnce(8, func(int) {
		if err := b.Run(t.Context(), b.account, id); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	want(t, "numbers of eight at once", numbersOf(b.work(t, id)), planned)
	b.exec(t, `UPDATE reconciliations SET next_run_at = now() WHERE id = $1`, id) // a job that comes late
	if err := b.Run(t.Context(), b.account, id); err != nil {
		t.Fatal(err)
	}
	want(t, "numbers of one more", numbersOf(b.read(t, id)), planned)
}

// A step that was cut off by a crash is made again; one that was recorded is not,
// also by those who still hold what they read before.
func TestACrashInTheMiddleChangesNoNumber(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	list, planned := b.plant(t, planted)
	id := b.create(t, b.comparison(gateway.MatchByKey), list)
	for step := 0; ; step++ {
		stale, mine, err := b.store.ClaimReconciliation(t.Context(), b.account, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !mine {
			break // it is done
		}
		b.expectUndone(t, stale)
		// Another node takes it over, as after the lease's end, and dies in turn
		// after one step.
		b.stepOnce(t, id)
		b.wantStale(t, stale)
		if step > 50 {
			t.Fatal("it does not end")
		}
	}
	want(t, "numbers", numbersOf(b.read(t, id)), planned)
	if n := b.count(t, `SELECT count(*) FROM reconciliation_rows WHERE result IS NULL`); n > 0 {
		t.Errorf("%d rows were not judged", n)
	}
}

// expectUndone makes a part of a step that is rolled back, as a crash does.
func (b *bundle) expectUndone(t *testing.T, run store.ReconciliationRun) {
	t.Helper()
	crashed := errors.New("crashed")
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		if ok, err := tx.HoldReconciliation(t.Context(), run, time.Minute); err != nil || !ok {
			t.Fatalf("hold: %t, %v", ok, err)
		}
		if err := tx.AddMissing(t.Context(), b.account, run.ID, []gateway.MissingRow{{
			EventID: gateway.EventID(b.clock.NewID()), Reason: gateway.ReasonOpen,
		}}); err != nil {
			t.Fatal(err)
		}
		return crashed
	})
	if !errors.Is(err, crashed) {
		t.Fatal(err)
	}
}

// stepOnce runs until the cursors have moved.
func (b *bundle) stepOnce(t *testing.T, id gateway.ReconciliationID) {
	t.Helper()
	b.exec(t, `UPDATE reconciliations SET leased_until = NULL WHERE id = $1`, id)
	if err := b.StepOnce(t.Context(), b.account, id); err != nil {
		t.Fatal(err)
	}
	b.exec(t, `UPDATE reconciliations SET leased_until = NULL WHERE id = $1`, id)
}

// wantStale fails if a run that was read before a step may go on.
func (b *bundle) wantStale(t *testing.T, run store.ReconciliationRun) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		if ok, err := tx.HoldReconciliation(t.Context(), run, time.Minute); err != nil || ok {
			t.Errorf("a step is made twice: %t, %v", ok, err)
		}
		return nil
	})
}

func TestAStoppedComparisonStaysAsItIs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	list, planned := b.plant(t, planted)
	id := b.create(t, b.comparison(gateway.MatchByKey), list)
	b.stepOnce(t, id)
	before := numbersOf(b.read(t, id))
	stopped := make([]error, 8)
	pgtest.AtOnce(len(stopped), func(i int) { _, stopped[i] = b.Cancel(t.Context(), b.account, actor, id) })
	n := 0
	for _, err := range stopped {
		switch {
		case err == nil:
			n++
		case !errors.Is(err, gateway.ErrStateChanged):
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("%d of %d stops had an effect, want one", n, len(stopped))
	}
	r := b.work(t, id)
	want(t, "numbers", numbersOf(r), before)
	if r.State != gateway.ReconciliationCancelled || before.Ours >= planned.Ours {
		t.Errorf("state %s with %d of %d compared", r.State, before.Ours, planned.Ours)
	}
	if n := b.count(t, `SELECT count(*) FROM audit_log WHERE action = 'reconciliation.cancel'`); n != 1 {
		t.Errorf("%d entries of the audit log", n)
	}
}

// uploading begins to upload what is written, and tells how that ends.
func (b *bundle) uploading(t *testing.T) (list *io.PipeWriter, done <-chan error) {
	t.Helper()
	sender, list := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := b.Create(t.Context(), b.account, actor, b.comparison(gateway.MatchByKey), sender)
		sender.CloseWithError(err)
		ended <- err
	}()
	return list, ended
}

func TestAStoppedUploadEnds(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	list, done := b.uploading(t)
	for range reconcile.PartRows {
		_, _ = list.Write([]byte("a\n"))
	}
	var id gateway.ReconciliationID
	pgtest.Until(t, "the upload begins", func() bool {
		all, err := b.store.Reconciliations(t.Context(), b.account, store.Page[gateway.ReconciliationID]{Limit: 1})
		if err != nil || len(all) == 0 || all[0].Rows == 0 {
			return false
		}
		id = all[0].ID
		return true
	})
	if _, err := b.Cancel(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	for range reconcile.PartRows {
		if _, err := list.Write([]byte("a\n")); err != nil {
			break
		}
	}
	_ = list.Close()
	if err := <-done; !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("the upload ends with %v", err)
	}
	if r := b.read(t, id); r.State != gateway.ReconciliationCancelled || r.Rows != reconcile.PartRows {
		t.Errorf("%s with %d rows", r.State, r.Rows)
	}
}

// What goes wrong in the middle of a list is said where people look, and nothing
// is compared.
func TestAListThatBreaksOffFails(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.SetMaxRows(20_000)
	b.send(t, sent{key: "a", delivery: gateway.DeliveryPending})
	for name, tt := range map[string]struct {
		list io.Reader
		why  string
	}{
		"the connection ends":      {io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), "broke off"},
		"a quote is left open":     {strings.NewReader("a\n\"b\nc\n"), "The quote that opens in line 2 is never closed."},
		"nothing is there":         {strings.NewReader(""), "has no rows"},
		"no row can be read":       {strings.NewReader("\xff\n\xfe\n"), "None of its 2 rows"},
		"gzip that is damaged":     {strings.NewReader("\x1f\x8bnonsense that is no gzip"), "compressed list is damaged"},
		"a row that has no end":    {strings.NewReader("a\n\"" + strings.Repeat("b\n", 100_000)), "is a quote left open"},
		"UTF-16":                   {strings.NewReader("\xff\xfea\x00"), "UTF-16"},
		"more rows than there may": {&endless{text: "a\n"}, "more than 20000 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := b.comparison(gateway.MatchByKey)
			in.Name = name
			r, err := b.Create(t.Context(), b.account, actor, in, tt.list)
			if err == nil {
				t.Fatal("the list was taken")
			}
			r = b.read(t, r.ID)
			if r.State != gateway.ReconciliationFailed || !strings.Contains(r.Fault, tt.why) || r.FinishedAt == nil {
				t.Errorf("%s: %q, want failed: … %q …", r.State, r.Fault, tt.why)
			}
			if err := b.Run(t.Context(), b.account, r.ID); err != nil {
				t.Error(err)
			}
			if got := numbersOf(b.read(t, r.ID)); got.Ours+got.Matched+got.Missing > 0 {
				t.Errorf("it was compared: %+v", got)
			}
		})
	}
}

// endless repeats a text.
type endless struct{ text string }

func (e *endless) Read(into []byte) (int, error) {
	n := 0
	for n+len(e.text) <= len(into) {
		n += copy(into[n:], e.text)
	}
	return n, nil
}

// A list whose sender's node has died is told as broken off when its lease ends.
func TestAnUploadWhoseNodeDiedFails(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var r gateway.Reconciliation
	b.in(t, func(tx store.Tx) (err error) {
		r, err = tx.CreateReconciliation(t.Context(), b.account, gateway.Reconciliation{
			ID: gateway.ReconciliationID(b.clock.NewID()), EndpointID: b.endpoint, MatchBy: gateway.MatchByKey, Actor: actor,
			Since: b.clock.Now().Add(-time.Hour), Until: b.clock.Now(),
		}, time.Hour)
		return err
	})
	if n, err := b.Sweep(t.Context()); err != nil || n != 0 {
		t.Errorf("%d rang, %v; want none while the lease lasts", n, err)
	}
	if err := b.Run(t.Context(), b.account, r.ID); err != nil || b.read(t, r.ID).State != gateway.ReconciliationUploading {
		t.Errorf("it was ended while the lease lasts: %v", err)
	}
	b.exec(t, `UPDATE reconciliations SET leased_until = now() - interval '1 second', next_run_at = now() - interval '1 second'`)
	if n, err := b.Sweep(t.Context()); err != nil || n != 1 {
		t.Errorf("%d rang, %v; want one", n, err)
	}
	if n := b.count(t, `SELECT count(*) FROM river_job WHERE kind = 'reconcile'`); n != 1 {
		t.Errorf("%d jobs, want one", n)
	}
	if r := b.work(t, r.ID); r.State != gateway.ReconciliationFailed || !strings.Contains(r.Fault, "broke off") {
		t.Errorf("%s: %q", r.State, r.Fault)
	}
}

func TestWhatIsDeletedIsGone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	list, _ := b.plant(t, 100)
	id := b.create(t, b.comparison(gateway.MatchByKey), list)
	b.work(t, id)
	deleted := make([]error, 4)
	pgtest.AtOnce(len(deleted), func(i int) { deleted[i] = b.Delete(t.Context(), b.account, actor, id) })
	n := 0
	for _, err := range deleted {
		switch {
		case err == nil:
			n++
		case !errors.Is(err, gateway.ErrNotFound):
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("deleted %d times, want once", n)
	}
	if _, err := b.store.Reconciliation(t.Context(), b.account, id); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if rows := b.listed(t, id, gateway.RowMatched); len(rows)+len(b.missing(t, id)) > 0 {
		t.Errorf("rows are still there: %v", rows)
	}
}

func TestNoMoreThanSomeAreOpen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	results := make([]error, gateway.MaxOpenReconciliations+3)
	pgtest.AtOnce(len(results), func(i int) {
		_, results[i] = b.Create(t.Context(), b.account, actor, b.comparison(gateway.MatchByKey), strings.NewReader("a\n"))
	})
	refused := 0
	for _, err := range results {
		if errors.Is(err, gateway.ErrLimitReached) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 3 {
		t.Errorf("%d were refused, want 3", refused)
	}
}

// What is deleted counts until its rows are gone: who uploads and deletes must not
// fill the disk faster than it is freed.
func TestNoMoreRowsThanSomeAreKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	create := func() error {
		_, err := b.Create(t.Context(), b.account, actor, b.comparison(gateway.MatchByKey), strings.NewReader("a\n"))
		return err
	}
	id := b.create(t, b.comparison(gateway.MatchByKey), "a\n")
	b.work(t, id)
	b.exec(t, `UPDATE reconciliations SET rows = $1, missing = 1`, gateway.MaxKeptReconciledRows-2)
	if err := create(); err != nil {
		t.Errorf("within the bound: %v", err)
	}
	b.exec(t, `UPDATE reconciliations SET missing = 2 WHERE id = $1`, id)
	if err := create(); !errors.Is(err, gateway.ErrLimitReached) {
		t.Errorf("beyond the bound: %v", err)
	}
	if err := b.Delete(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	if err := create(); !errors.Is(err, gateway.ErrLimitReached) {
		t.Errorf("before the rows are gone: %v", err)
	}
	for more := true; more; {
		b.in(t, func(tx store.Tx) (err error) {
			more, err = tx.EmptyReconciliation(t.Context(), time.Time{}, 10)
			return err
		})
	}
	if err := create(); err != nil {
		t.Errorf("when they are: %v", err)
	}
}

// Long keys are stored before they are many: a node reads many lists at once.
func TestPartsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	list, done := b.uploading(t)
	row := strings.Repeat("x", gateway.MaxRowKey) + "\n"
	const rows = 2000 // far fewer than a part has
	for range rows {
		if _, err := io.WriteString(list, row); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Until(t, "a part is stored", func() bool { return b.count(t, `SELECT count(*) FROM reconciliation_rows`) > 0 })
	_ = list.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := b.count(t, `SELECT count(*) FROM reconciliation_rows`); n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
}

func TestWhatIsWrongWithARequestIsSaid(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, tt := range map[string]struct {
		change func(*reconcile.Input)
		want   string
	}{
		"no such endpoint": {func(in *reconcile.Input) { in.Endpoint = gateway.EndpointID{1} }, "endpoint: "},
		"no time":          {func(in *reconcile.Input) { in.Since = time.Time{} }, "since: "},
		"times turned":     {func(in *reconcile.Input) { in.Until = in.Since.Add(-1) }, "until: "},
		"no such match":    {func(in *reconcile.Input) { in.MatchBy = "body" }, "match: "},
		"no such format":   {func(in *reconcile.Input) { in.Format = "xml" }, "format: "},
		"a name too long":  {func(in *reconcile.Input) { in.Name = strings.Repeat("x", 201) }, "name: "},
		"a column's NUL":   {func(in *reconcile.Input) { in.KeyColumn = "\x00" }, "key_column: "},
		"a type's NUL":     {func(in *reconcile.Input) { in.TypeColumn = "\x00" }, "type_column: "},
	} {
		in := b.comparison(gateway.MatchByKey)
		tt.change(&in)
		_, err := b.Create(t.Context(), b.account, actor, in, strings.NewReader("a\n"))
		if invalid, ok := errors.AsType[*gateway.InvalidError](err); !ok || !strings.HasPrefix(invalid.Error(), tt.want) {
			t.Errorf("%s: %v, want %s…", name, err, tt.want)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM reconciliations`); n > 0 {
		t.Errorf("%d were made all the same", n)
	}
}
