package accept_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestPublishStoresTheEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	subject, occurred := "customer 7", time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
	in := accept.PublishInput{Type: "order.created", Subject: &subject, Key: []byte("k"), Data: []byte(`{"a": 1}`), OccurredAt: &occurred}
	told, err := b.publish(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	event, body := b.event(t, told.ID)
	event.DecideAfter = time.Time{}
	wantEvent := gateway.Event{
		ID: told.ID, AccountID: b.account, SourceID: b.api, Type: in.Type, Subject: in.Subject, Key: in.Key,
		Status: gateway.EventAccepted, OccurredAt: in.OccurredAt, BodySize: len(in.Data),
	}
	if diff := cmp.Diff(wantEvent, event); diff != "" {
		t.Error(diff)
	}
	wantBody := gateway.Body{Method: "POST", Path: []byte{}, Query: []byte{}, Headers: []byte("Content-Type: application/json\r\n"), Data: in.Data}
	if diff := cmp.Diff(wantBody, body); diff != "" {
		t.Error(diff)
	}
	if told.Type != in.Type || told.Duplicate || !told.CreatedAt.Equal(told.ID.Time()) {
		t.Errorf("told of %+v", told)
	}
	b.wantRows(t, rows{events: 1, keys: 1})
	if ids := b.committed.all(); !slices.Equal(ids, []gateway.EventID{told.ID}) {
		t.Errorf("told those who decide of %v", ids)
	}
}

func TestPublishRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	good := keyed("k", "{}")
	text := func(s string) *string { return &s }
	for name, test := range map[string]struct {
		change func(*accept.PublishInput)
		field  string // "" is none
	}{
		"nothing wrong":         {func(*accept.PublishInput) {}, ""},
		"no type":               {func(in *accept.PublishInput) { in.Type = "" }, "type"},
		"a type of ours":        {func(in *accept.PublishInput) { in.Type = "rowlock.test" }, "type"},
		"a pattern as type":     {func(in *accept.PublishInput) { in.Type = "order.*" }, "type"},
		"no data":               {func(in *accept.PublishInput) { in.Data = nil }, "data"},
		"empty data":            {func(in *accept.PublishInput) { in.Data = []byte{} }, "data"},
		"no key":                {func(in *accept.PublishInput) { in.Key = nil }, ""},
		"empty key":             {func(in *accept.PublishInput) { in.Key = []byte{} }, "key"},
		"the longest key":       {func(in *accept.PublishInput) { in.Key = []byte(strings.Repeat("k", 1024)) }, ""},
		"too long a key":        {func(in *accept.PublishInput) { in.Key = []byte(strings.Repeat("k", 1025)) }, "key"},
		"NUL in the key":        {func(in *accept.PublishInput) { in.Key = []byte("a\x00") }, "key"},
		"bad UTF-8 as key":      {func(in *accept.PublishInput) { in.Key = []byte("a\xff") }, "key"},
		"empty subject":         {func(in *accept.PublishInput) { in.Subject = text("") }, "subject"},
		"the longest subject":   {func(in *accept.PublishInput) { in.Subject = text(strings.Repeat("ü", 512)) }, ""},
		"too long a subject":    {func(in *accept.PublishInput) { in.Subject = text(strings.Repeat("s", 1025)) }, "subject"},
		"NUL in the subject":    {func(in *accept.PublishInput) { in.Subject = text("\x00") }, "subject"},
		"bad UTF-8 as subject":  {func(in *accept.PublishInput) { in.Subject = text("\xc3\x28") }, "subject"},
		"odd but valid subject": {func(in *accept.PublishInput) { in.Subject = text("\u0001 \n 🦫'\"") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := good
			in.Key = []byte(name)
			test.change(&in)
			told, err := b.publish(t.Context(), in)
			var invalid *gateway.InvalidError
			switch {
			case test.field == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.field != "" && (!errors.As(err, &invalid) || invalid.Field != test.field):
				t.Errorf("error %v, want one of the field %s", err, test.field)
			case test.field != "" && !told.ID.IsZero():
				t.Errorf("refused and told of %s", told.ID)
			}
			if accept.IsTemporary(err) {
				t.Errorf("%v is temporary", err)
			}
		})
	}
}

func TestPublishWithoutAKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	in := accept.PublishInput{Type: "order.created", Data: []byte("1")}
	first, err1 := b.publish(t.Context(), in)
	second, err2 := b.publish(t.Context(), in)
	if err := errors.Join(err1, err2); err != nil || first.ID == second.ID || first.Duplicate || second.Duplicate {
		t.Errorf("%+v, %+v, %v", first, second, err)
	}
	b.wantRows(t, rows{events: 2})
}

// A repeat is told of the first; a key with another content is refused, and
// each leaves a trace.
func TestPublishAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	in := keyed("k", `{"a":1}`)
	first, err := b.publish(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	subject, other := "s", time.Now()
	for name, test := range map[string]struct {
		change func(*accept.PublishInput)
		reused bool
	}{
		"the same":         {func(*accept.PublishInput) {}, false},
		"another time":     {func(in *accept.PublishInput) { in.OccurredAt = &other }, false},
		"another type":     {func(in *accept.PublishInput) { in.Type = "order.paid" }, true},
		"another subject":  {func(in *accept.PublishInput) { in.Subject = &subject }, true},
		"other data":       {func(in *accept.PublishInput) { in.Data = []byte(`{"a":2}`) }, true},
		"other whitespace": {func(in *accept.PublishInput) { in.Data = []byte(`{"a": 1}`) }, true},
	} {
		again := in
		test.change(&again)
		told, err := b.publish(t.Context(), again)
		if told.ID != first.ID || !told.Duplicate || errors.Is(err, gateway.ErrKeyReused) != test.reused || (err != nil) != test.reused {
			t.Errorf("%s: told of %+v, %v, want %s again", name, told, err, first.ID)
		}
		trace := b.requests(t, b.api)[0]
		if trace.Cause != gateway.CauseDuplicate || *trace.EventID != first.ID || trace.BodyDiffers != test.reused ||
			string(trace.Body.Data) != string(again.Data) || trace.BodySize != len(again.Data) {
			t.Errorf("%s: kept as %+v", name, trace)
		}
	}
	b.wantRows(t, rows{events: 1, keys: 1, requests: 6})
	if ids := b.committed.all(); len(ids) != 1 {
		t.Errorf("%d events are to be decided, want 1", len(ids))
	}
}

// The same event a hundred times at once is one event: one job, and everybody
// is told of the same id.
func TestPublishAHundredTimesAtOnce(t *testing.T) {
	t.Parallel()
	const n = 100
	b := newBundle(t, accept.Limits{})
	told := make([]accept.Published, n)
	errs := make([]error, n)
	pgtest.AtOnce(n, func(i int) { told[i], errs[i] = b.publish(t.Context(), keyed("k", "{}")) })
	first := 0
	for i := range n {
		if errs[i] != nil || told[i].ID != told[0].ID {
			t.Errorf("%d was told of %s, %v, another of %s", i, told[i].ID, errs[i], told[0].ID)
		}
		if !told[i].Duplicate {
			first++
		}
	}
	if first != 1 {
		t.Errorf("%d were the first", first)
	}
	b.wantRows(t, rows{events: 1, keys: 1, requests: n - 1})
}

// A hundred with one key and contents of their own: one is accepted, and no
// other is told that it was.
func TestPublishOtherContentsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 100
	b := newBundle(t, accept.Limits{})
	errs := make([]error, n)
	pgtest.AtOnce(n, func(i int) { _, errs[i] = b.publish(t.Context(), keyed("k", strconv.Itoa(i))) })
	accepted := 0
	for _, err := range errs {
		switch {
		case err == nil:
			accepted++
		case !errors.Is(err, gateway.ErrKeyReused):
			t.Error(err)
		}
	}
	if accepted != 1 {
		t.Errorf("%d were accepted", accepted)
	}
	b.wantRows(t, rows{events: 1, keys: 1, requests: n - 1})
	if n := b.count(t, `SELECT count(*) FROM requests WHERE body_differs`); n != 99 {
		t.Errorf("%d traces say that the body differs", n)
	}
}

// Duplicates that share one transaction have one winner too: all of these are
// queued before the service runs.
func TestDuplicatesOfOneGroupCommit(t *testing.T) {
	t.Parallel()
	const n, distinct = 60, 5
	b := newStopped(t, accept.Limits{})
	told := make([]accept.Published, n)
	done := make(chan error, n)
	for i := range n {
		go func() {
			var err error
			told[i], err = b.publish(t.Context(), keyed(strconv.Itoa(i%distinct), "{}"))
			done <- err
		}()
	}
	b.queued(n)
	b.start(t)
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for i := range n {
		if told[i].ID != told[i%distinct].ID {
			t.Errorf("%d was told of %s, want %s", i, told[i].ID, told[i%distinct].ID)
		}
	}
	b.wantRows(t, rows{events: distinct, keys: distinct, requests: n - distinct})
}

// Keys are of an account: another's event under the same key is another event.
func TestKeysOfTwoAccounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	other := b
	other.account, other.api = b.newAccount(t, "other")
	for _, b := range []bundle{b, other} {
		if told, err := b.publish(t.Context(), keyed("k", "{}")); err != nil || told.Duplicate {
			t.Errorf("%+v, %v", told, err)
		}
	}
	b.wantRows(t, rows{events: 2, keys: 2})
}

// Each of a batch stands alone, and the order is kept.
func TestPublishBatch(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	key := gateway.APIKey{ID: gateway.KeyID{1}, AccountID: b.account}
	if _, err := b.publish(t.Context(), keyed("old", "1")); err != nil {
		t.Fatal(err)
	}
	in := []accept.PublishInput{keyed("old", "1"), keyed("old", "2"), {Type: "no data"}, keyed("new", "3"), {Type: "a.b", Data: []byte("4")}}
	got := b.PublishBatch(t.Context(), b.account, key, in)
	var words []string
	for _, r := range got {
		var invalid *gateway.InvalidError
		switch {
		case errors.Is(r.Err, gateway.ErrKeyReused):
			words = append(words, "reused")
		case errors.As(r.Err, &invalid):
			words = append(words, "invalid")
		case r.Err != nil:
			words = append(words, r.Err.Error())
		default:
			words = append(words, fmt.Sprintf("%s %t", r.Type, r.Duplicate))
		}
	}
	want := []string{"order.created true", "reused", "invalid", "order.created false", "a.b false"}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
	if none := b.PublishBatch(t.Context(), b.account, key, nil); len(none) != 0 {
		t.Errorf("of none came %v", none)
	}
	b.wantRows(t, rows{events: 3, keys: 2, requests: 2})
}

// A batch that is longer than a group commit takes.
func TestPublishALongBatch(t *testing.T) {
	t.Parallel()
	const n = 1000
	b := newBundle(t, accept.Limits{})
	in := make([]accept.PublishInput, n)
	for i := range in {
		in[i] = keyed(strconv.Itoa(i%(n/2)), strconv.Itoa(i%(n/2)))
	}
	got := b.PublishBatch(t.Context(), b.account, gateway.APIKey{}, in)
	for i, r := range got {
		if r.Err != nil || r.ID != got[i%(n/2)].ID {
			t.Errorf("%d: %s, %v, want %s", i, r.ID, r.Err, got[i%(n/2)].ID)
		}
	}
	b.wantRows(t, rows{events: n / 2, keys: n / 2, requests: n / 2})
}

func TestPublishToNoAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for _, r := range b.PublishBatch(t.Context(), gateway.AccountID{}, gateway.APIKey{}, []accept.PublishInput{keyed("k", "1"), keyed("l", "2")}) {
		if !errors.Is(r.Err, gateway.ErrNotFound) {
			t.Errorf("error %v, want ErrNotFound", r.Err)
		}
	}
	b.wantRows(t, rows{})
}

// Bodies and keys come back byte for byte.
func TestPublishedBytes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	for name, data := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(data) == 0 {
				return // no JSON value
			}
			told, err := b.publish(t.Context(), accept.PublishInput{Type: "a.b", Data: data})
			if err != nil {
				t.Fatal(err)
			}
			if _, body := b.event(t, told.ID); string(body.Data) != string(data) {
				t.Errorf("%d bytes came back as %d others", len(data), len(body.Data))
			}
		})
	}
}

// Of several events of one batch with one key, the first is the event, however
// many there are and whatever becomes of the others.
func TestFirstOfABatchIsTheEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	const keys = 100
	in := make([]accept.PublishInput, 0, 3*keys)
	for n := range keys {
		key := strconv.Itoa(n)
		in = append(in, keyed(key, "1"), keyed(key, "2"), keyed(key, "1"))
	}
	got := b.PublishBatch(t.Context(), b.account, gateway.APIKey{}, in)
	for n := 0; n < len(got); n += 3 {
		if first := got[n]; first.Err != nil || first.Duplicate {
			t.Errorf("%d: the first is %+v", n, first)
		}
		if !errors.Is(got[n+1].Err, gateway.ErrKeyReused) {
			t.Errorf("%d: another content is %+v", n, got[n+1])
		}
		if again := got[n+2]; again.Err != nil || !again.Duplicate || again.ID != got[n].ID {
			t.Errorf("%d: the same content is %+v", n, again)
		}
	}
	b.wantRows(t, rows{events: keys, keys: keys, requests: 2 * keys})
}
