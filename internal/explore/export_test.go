package explore_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
)

// exported writes an export to its end.
func (b *bundle) exported(t *testing.T, q explore.Query, format explore.Format, payloads bool) string {
	t.Helper()
	e, err := b.Export(t.Context(), b.account.ID, q, format, payloads)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var text strings.Builder
	if err := e.Write(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// exportLine is what a line of an export is read as.
type exportLine struct {
	ID            gateway.EventID
	Type          string
	Status        gateway.EventStatus
	Progress      gateway.Progress
	Payload       json.RawMessage
	PayloadBase64 []byte `json:"payload_base64"`
}

func linesOf(t *testing.T, text string) (lines []exportLine) {
	t.Helper()
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		var l exportLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		lines = append(lines, l)
	}
	return lines
}

func TestExportHasAllThatIsMeant(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Nanosecond) // which bounds no export
	for name, q := range b.queries(t) {
		want := b.meant(func(a arrived) bool { return wants(q, a) })
		var got []gateway.EventID
		for _, l := range linesOf(t, b.exported(t, q, explore.FormatNDJSON, false)) {
			got = append(got, l.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		rows, err := csv.NewReader(strings.NewReader(b.exported(t, q, explore.FormatCSV, true))).ReadAll()
		if err != nil || len(rows) != len(want)+1 {
			t.Errorf("%s: a table of %d rows, %v; want %d and a head", name, len(rows), err, len(want))
		}
	}
}

func TestExportTellsWhatBecameOfEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	lines := linesOf(t, b.exported(t, explore.Query{}, explore.FormatNDJSON, true))
	rows, err := csv.NewReader(strings.NewReader(b.exported(t, explore.Query{}, explore.FormatCSV, false))).ReadAll()
	if err != nil || len(lines) != len(b.all) || rows[0][0] != "id" || rows[0][3] != "progress" {
		t.Fatalf("%d lines, %v, %v", len(lines), err, rows[0])
	}
	for i, a := range b.all {
		l, row := lines[i], rows[i+1]
		if l.ID != a.ID || l.Type != a.Type || l.Status != a.Status || l.Progress != a.progress || !bytes.Equal(l.Payload, a.body) {
			t.Fatalf("line %d is %+v, want %+v", i, l, a)
		}
		if row[0] != a.ID.String() || row[1] != a.Type || row[2] != string(a.Status) || row[3] != string(a.progress) || row[7] != string(a.Key) {
			t.Fatalf("row %d is %v, want %+v", i, row, a)
		}
	}
}

// What is no line of JSON goes as base64, and what looks like a formula as text.
func TestExportOfWhatIsHostile(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	for i, body := range []string{"{\n\"a\": 1}", "\x00\xff", `{"a":"` + "\xff" + `"}`, `"\u2028<script>"`, ""} {
		if _, err := b.pool.Exec(t.Context(), `UPDATE event_bodies SET body = $2 WHERE id = $1`, b.all[i].ID, []byte(body)); err != nil {
			t.Fatal(err)
		}
		b.all[i].body = []byte(body)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE events SET subject = E'=1+1\n"', key = E'@x\\377' WHERE id = $1`, b.all[0].ID); err != nil {
		t.Fatal(err)
	}
	q := explore.Query{Since: b.all[4].ID.Time()}
	lines := linesOf(t, b.exported(t, q, explore.FormatNDJSON, true))
	if len(lines) != 5 {
		t.Fatalf("%d lines, want 5", len(lines))
	}
	for i, l := range lines {
		if payload := append(l.Payload, l.PayloadBase64...); string(payload) != string(b.all[i].body) || (i == 3) != (l.Payload != nil) {
			t.Errorf("%q comes as %q", b.all[i].body, payload)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(b.exported(t, q, explore.FormatCSV, false))).ReadAll()
	if err != nil || rows[1][6] != "'=1+1\n\"" || rows[1][7] != "'@x\uFFFD" {
		t.Errorf("%q, %v", rows[1], err)
	}
}

func TestExportLeavesOutWhatJustCame(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	now := b.clock.Now()
	if _, err := b.pool.Exec(t.Context(), `
		INSERT INTO events (id, account_id, source_id, type, status, decide_after, body_size)
		SELECT $2, account_id, source_id, type, status, decide_after, body_size FROM events WHERE id = $1`,
		b.all[0].ID, gateway.FirstIDAt[gateway.EventID](now.Add(-50*time.Second))); err != nil {
		t.Fatal(err)
	}
	if lines := linesOf(t, b.exported(t, explore.Query{}, explore.FormatNDJSON, false)); len(lines) != len(b.all) {
		t.Errorf("%d lines, want %d", len(lines), len(b.all))
	}
	if text := b.exported(t, explore.Query{Since: now.Add(-30 * time.Second)}, explore.FormatCSV, false); strings.Count(text, "\n") != 1 {
		t.Errorf("of the last moment there is %q", text)
	}
}

// errGone is what a reader says who has left.
var errGone = errors.New("gone")

type leaving struct{ after int }

func (l *leaving) Write(text []byte) (int, error) {
	if l.after--; l.after < 0 {
		return 0, errGone
	}
	return len(text), nil
}

func TestExportEndsWithItsReader(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	for _, format := range explore.Formats {
		e, err := b.Export(t.Context(), b.account.ID, explore.Query{}, format, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Write(t.Context(), &leaving{after: 1}); !errors.Is(err, errGone) {
			t.Errorf("%s: %v, want what the reader said", format, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Write(ctx, io.Discard); err == nil {
			t.Errorf("%s goes on when nobody asks", format)
		}
		e.Close()
	}
}

// longest keeps the length of the longest part that it was given.
type longest struct{ n, parts int }

func (l *longest) Write(text []byte) (int, error) {
	l.n = max(l.n, len(text))
	l.parts++
	return len(text), nil
}

// Of many long bodies a few are in memory at once.
func TestExportOfLongBodies(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	const size, most = 256 << 10, 6 << 20
	ids := make([]gateway.EventID, 100)
	for i := range ids {
		ids[i] = b.all[i].ID
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE event_bodies SET body = convert_to('"' || repeat('x', $2 - 2) || '"', 'UTF8') WHERE id = ANY ($1)`, ids, size); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE events SET body_size = $2 WHERE id = ANY ($1)`, ids, size); err != nil {
		t.Fatal(err)
	}
	e, err := b.Export(t.Context(), b.account.ID, explore.Query{}, explore.FormatNDJSON, true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var got longest
	if err := e.Write(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if got.n < size || got.n > most {
		t.Errorf("the longest of %d parts has %d bytes, want at most %d", got.parts, got.n, most)
	}
}

// Those who read slowly do not keep other accounts from exporting.
func TestExportsOfOtherAccounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	for i := range byte(8) {
		e, err := b.Export(t.Context(), gateway.AccountID{1: i}, explore.Query{}, explore.FormatCSV, false)
		if err != nil {
			t.Fatalf("export %d: %v", i, err)
		}
		defer e.Close()
	}
}

func TestExportsTakeTurns(t *testing.T) {
	t.Parallel()
	b := newBundle(t, time.Minute)
	first, err := b.Export(t.Context(), b.account.ID, explore.Query{}, explore.FormatCSV, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Export(ctx, b.account.ID, explore.Query{}, explore.FormatCSV, false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the second to wait", err)
	}
	first.Close()
	second, err := b.Export(t.Context(), b.account.ID, explore.Query{}, explore.FormatCSV, false)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}
