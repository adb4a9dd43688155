package reconcile_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// What a partner or a sender has named is opened in spreadsheets: none of it runs
// there.
func TestAReportHoldsNoFormula(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.send(t, sent{key: "=1+1", delivery: gateway.DeliveryFailed}, sent{key: "\tkey", delivery: gateway.DeliveryFailed})
	id := b.create(t, b.comparison(gateway.MatchByKey), "\"=cmd|' /C calc'!A0\"\n+49170\n-1\n@SUM(A1)\nplain=1\n-1\n")
	r := b.work(t, id)
	var report bytes.Buffer
	if err := b.Report(t.Context(), r, &report); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&report).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, row := range rows {
		for _, cell := range row {
			if strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r\n") {
				t.Errorf("%q begins like a formula", cell)
			}
		}
		keys[row[3]] = true
	}
	for _, key := range []string{"'=1+1", "'\tkey", "'=cmd|' /C calc'!A0", "'+49170", "'-1", "'@SUM(A1)", "plain=1"} {
		if !keys[key] {
			t.Errorf("%q is not in the report:\n%v", key, rows)
		}
	}
}
