package reconcile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/reconcile"
)

// Layouts that the tables use.
var (
	bare   = reconcile.Layout{Format: reconcile.FormatCSV, MatchBy: gateway.MatchByKey, NoHeader: true}
	headed = reconcile.Layout{Format: reconcile.FormatCSV, MatchBy: gateway.MatchByKey}
	typed  = reconcile.Layout{Format: reconcile.FormatCSV, MatchBy: gateway.MatchBySubject, KeyColumn: "who", TypeColumn: "3"}
	ndjson = reconcile.Layout{Format: reconcile.FormatNDJSON, MatchBy: gateway.MatchByKey}
	fields = reconcile.Layout{Format: reconcile.FormatNDJSON, MatchBy: gateway.MatchBySubject, KeyColumn: "who", TypeColumn: "what"}
	events = reconcile.Layout{Format: reconcile.FormatNDJSON, MatchBy: gateway.MatchByEvent}
	ids    = reconcile.Layout{Format: reconcile.FormatCSV, MatchBy: gateway.MatchByEvent}
)

const anEvent = "evt_06h1m3v9c8x7k2q5n4t6w8y0za"

func packed(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestLists(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000)
	for name, tt := range map[string]struct {
		layout reconcile.Layout
		text   string
		// rows are "line key type"; faulty "line why"; fault why it cannot be read.
		rows, faulty []string
		fault        string
	}{
		"one column":                {layout: bare, text: "a\nb\n", rows: []string{"1 a", "2 b"}},
		"no end of line":            {layout: bare, text: "a\nb", rows: []string{"1 a", "2 b"}},
		"Windows":                   {layout: bare, text: "a\r\nb\r\n", rows: []string{"1 a", "2 b"}},
		"old Macs":                  {layout: bare, text: "a\rb\r", rows: []string{"1 a", "2 b"}},
		"old Macs, a faulty row":    {layout: bare, text: "a\r\"b\"x\rc\rd\r", rows: []string{"1 a", "3 c", "4 d"}, faulty: []string{"2 has text behind a closing quote"}},
		"Windows, a faulty row":     {layout: bare, text: "\"a\"x\r\nb\r\n", rows: []string{"2 b"}, faulty: []string{"1 has text behind a closing quote"}},
		"a mark of UTF-8":           {layout: bare, text: "\uFEFFa\n", rows: []string{"1 a"}},
		"compressed":                {layout: bare, text: packed(t, "\uFEFFa\nb\n"), rows: []string{"1 a", "2 b"}},
		"compressed, cut off":       {layout: bare, text: packed(t, strings.Repeat("a\n", 100))[:11], fault: "The compressed list ends in the middle"},
		"compressed, no more":       {layout: bare, text: "\x1f\x8b", fault: "The compressed list ends in the middle"},
		"blanks":                    {layout: bare, text: " a \n\t b\n", rows: []string{"1 a", "2 b"}},
		"empty lines":               {layout: bare, text: "\n\na\n\r\n\nb\n", rows: []string{"3 a", "6 b"}},
		"quotes":                    {layout: bare, text: "\"a,b\"\n\"c\"\"d\"\n", rows: []string{"1 a,b", `2 c"d`}},
		"lines in quotes":           {layout: bare, text: "\"a\nb\"\nc\n", rows: []string{"1 a\nb", "3 c"}},
		"a quote inside":            {layout: bare, text: "a\"b\n", rows: []string{`1 a"b`}},
		"blanks behind a quote":     {layout: bare, text: "\"a\" ,x\nb\n", rows: []string{"1 a", "2 b"}},
		"text behind a quote":       {layout: bare, text: "\"a\"b\nc\n", rows: []string{"2 c"}, faulty: []string{"1 has text behind a closing quote"}},
		"an empty cell":             {layout: bare, text: ",x\nb,x\n", rows: []string{"2 b"}, faulty: []string{"1 has no key"}},
		"an open quote":             {layout: bare, text: "a\n\"b\nc", rows: []string{"1 a"}, fault: "The quote that opens in line 2 is never closed."},
		"a NUL":                     {layout: bare, text: "a\x00\nb\n", rows: []string{"2 b"}, faulty: []string{"1 is not UTF-8 text"}},
		"Latin-1":                   {layout: bare, text: "caf\xe9\nb\n", rows: []string{"2 b"}, faulty: []string{"1 is not UTF-8 text"}},
		"a long key":                {layout: bare, text: long[:1025] + "\nb\n", rows: []string{"2 b"}, faulty: []string{"1 its key is longer than 1024 bytes"}},
		"a long line":               {layout: bare, text: "a," + long + "\nb\n", rows: []string{"2 b"}, faulty: []string{"1 is longer than 64 KiB"}},
		"a long row":                {layout: bare, text: "a\n\"" + strings.Repeat(long+"\n", 2), rows: []string{"1 a"}, fault: "line 2 is longer than 64 KiB"},
		"semicolons":                {layout: headed, text: "x;key\n1;a\n", rows: []string{"2 a"}},
		"tabs":                      {layout: headed, text: "x\tkey\n1\ta\n", rows: []string{"2 a"}},
		"a header in quotes":        {layout: headed, text: "\"a;b;c\",\"key\"\n1,a\n", rows: []string{"2 a"}},
		"a usual name":              {layout: headed, text: "id,Idempotency_Key\n1,a\n", rows: []string{"2 a"}},
		"the only column":           {layout: headed, text: "order-1\norder-2\n", fault: "the first row names “order-1”. If it is a row like the others, say that the list has no header."},
		"an only column of ids":     {layout: ids, text: "whatever\n" + anEvent + "\n", rows: []string{"2 " + anEvent}},
		"ids without a header":      {layout: ids, text: anEvent + "\r\n" + anEvent + "\r\n", rows: []string{"1 " + anEvent, "2 " + anEvent}},
		"one id without a header":   {layout: ids, text: anEvent, rows: []string{"1 " + anEvent}},
		"a column of ids":           {layout: reconcile.Layout{Format: reconcile.FormatCSV, MatchBy: gateway.MatchByEvent, KeyColumn: "2"}, text: "x," + anEvent + "\ny," + anEvent + "\n", rows: []string{"1 " + anEvent, "2 " + anEvent}},
		"no usual name":             {layout: headed, text: "a,b\n1,2\n", fault: "Say which column holds the key: the first row names “a”, “b”."},
		"nothing at all":            {layout: headed, text: "", fault: "The list is empty."},
		"a header alone":            {layout: headed, text: "key\n"},
		"a broken header":           {layout: headed, text: "\"a\"b\n", fault: "The first row, which names the columns"},
		"by name and number":        {layout: typed, text: "who,when,what\nw1,now,t1\nw2,now,t2\n", rows: []string{"2 w1 t1", "3 w2 t2"}},
		"no type":                   {layout: typed, text: "who,when,what\nw1,now,\nw2,now,t2\n", rows: []string{"3 w2 t2"}, faulty: []string{"2 has no type"}},
		"too few columns":           {layout: typed, text: "who,when,what\nw1\nw2,now,t2\n", rows: []string{"3 w2 t2"}, faulty: []string{"2 has too few columns"}},
		"no such name":              {layout: typed, text: "x,y,z\n1,2,3\n", fault: "There is no column “who”: the first row names “x”, “y”, “z”."},
		"no such number":            {layout: typed, text: "who,y\n1,2\n", fault: "There is no column 3: the first row names 2."},
		"a name without a header":   {layout: reconcile.Layout{Format: reconcile.FormatCSV, MatchBy: gateway.MatchByKey, KeyColumn: "k", NoHeader: true}, text: "a\n", fault: "give its number"},
		"a number without a header": {layout: reconcile.Layout{Format: reconcile.FormatCSV, MatchBy: gateway.MatchByKey, KeyColumn: "2", NoHeader: true}, text: "a,b\n", rows: []string{"1 b"}},

		"objects":              {layout: ndjson, text: "{\"key\":\"a\"}\n{\"x\":1,\"key\":2}\n", rows: []string{"1 a", "2 2"}},
		"keys alone":           {layout: ndjson, text: "\"a\"\n9007199254740993\n", rows: []string{"1 a", "2 9007199254740993"}},
		"fields by name":       {layout: fields, text: `{"who":"w","what":"t"}`, rows: []string{"1 w t"}},
		"no such field":        {layout: fields, text: `{"what":"t"}`, faulty: []string{"1 has no field “who”"}},
		"a null":               {layout: fields, text: `{"who":"w","what":null}`, faulty: []string{"1 has no field “what”"}},
		"an object as key":     {layout: fields, text: `{"who":{},"what":"t"}`, faulty: []string{"1 “who” is neither a text nor a number"}},
		"a text without type":  {layout: fields, text: `"w"`, faulty: []string{"1 has no type: it is no JSON object"}},
		"no JSON":              {layout: ndjson, text: "{\"key\":\nnull\ntrue\n\"a\"\n", rows: []string{"4 a"}, faulty: []string{"1 is no JSON", "2 is neither a JSON object nor a text or a number", "3 is neither a JSON object nor a text or a number"}},
		"an array":             {layout: ndjson, text: "[{\"key\":\"a\"}]", fault: "The list is one JSON array"},
		"a long JSON line":     {layout: ndjson, text: "{\"key\":\"" + long + "\"}\n\"a\"\n", rows: []string{"2 a"}, faulty: []string{"1 is longer than 64 KiB"}},
		"JSON that is Latin-1": {layout: ndjson, text: "\"caf\xe9\"\n\"a\"", rows: []string{"2 a"}, faulty: []string{"1 is not UTF-8 text"}},
		"a NUL in JSON":        {layout: ndjson, text: `"a\u0000"`, faulty: []string{"1 is not UTF-8 text"}},
		"event ids":            {layout: events, text: `{"webhook-id":"` + anEvent + "\"}\n{\"id\":\"ch_1\"}", rows: []string{"1 " + anEvent}, faulty: []string{"2 holds no event id, which begins with evt_"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, faulty, err := reconcile.ReadAll(tt.text, tt.layout)
			var got []string
			for _, row := range rows {
				got = append(got, strings.TrimRight(fmt.Sprintf("%d %s %s", row.N, row.Key, row.Type), " "))
			}
			if diff := cmp.Diff(tt.rows, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			wrong := map[int]string{}
			for _, text := range tt.faulty {
				var n int
				_, _ = fmt.Sscan(text, &n)
				wrong[n] = strings.TrimPrefix(text, fmt.Sprint(n, " "))
			}
			if diff := cmp.Diff(wrong, faulty); diff != "" {
				t.Errorf("faulty rows (-want +got):\n%s", diff)
			}
			if (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("fault %v, want %q", err, tt.fault)
			}
		})
	}
}

// What another reader of CSV makes of a list that it takes, this one does, too.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a\nb\n", "a,b\r\n\"c,d\",e\n", "\"a\"\"b\",c\n", "\"a\nb\"\n", "\n\n,\n", "\"", "a\"b", "\uFEFFa", "\x1f\x8b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, faulty, err := reconcile.ReadAll(text, bare)
		wantSound(t, rows, faulty, err)
		// The other reader has commas alone, takes blanks as they are, and no lone
		// carriage return for an end.
		if strings.ContainsAny(text, ";\t\r\x00\uFEFF") || !utf8.ValidString(text) || len(text) > 1000 {
			return
		}
		other := csv.NewReader(strings.NewReader(text))
		other.FieldsPerRecord = -1
		records, otherErr := other.ReadAll()
		if otherErr != nil {
			return
		}
		var want, got []string
		for _, record := range records {
			if key := strings.TrimSpace(record[0]); key != "" {
				want = append(want, key)
			}
		}
		for _, row := range rows {
			got = append(got, row.Key)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-other +ours):\n%s", text, err, diff)
		}
	})
}

func FuzzNDJSON(f *testing.F) {
	for _, seed := range []string{`{"key":"a"}`, "\"a\"\n1\n", `{"key":1e400}`, "[\n", "{}", "null", "\"\\ud800\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, faulty, err := reconcile.ReadAll(text, ndjson)
		wantSound(t, rows, faulty, err)
		if strings.ContainsAny(text, "\n") || len(rows) == 0 || strings.HasPrefix(text, "\x1f\x8b") {
			return
		}
		if !json.Valid([]byte(strings.TrimPrefix(text, "\uFEFF"))) {
			t.Errorf("%q is no JSON, and was taken as %v", text, rows)
		}
	})
}

// wantSound fails unless what was read can be stored, line by line, and what
// could not be is said in words.
func wantSound(t *testing.T, rows []gateway.PartnerRow, faulty map[int]string, err error) {
	t.Helper()
	last := 0
	for _, row := range rows {
		if row.N <= last || faulty[row.N] != "" {
			t.Errorf("line %d comes behind %d, or twice", row.N, last)
		}
		last = row.N
		if row.Key == "" || len(row.Key) > gateway.MaxRowKey || !utf8.ValidString(row.Key) || strings.ContainsRune(row.Key, 0) {
			t.Errorf("line %d has the key %q", row.N, row.Key)
		}
	}
	if told, ok := errors.AsType[*reconcile.ListError](err); ok && told.Why == "" {
		t.Error("a fault without words")
	}
}
