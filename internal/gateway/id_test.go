package gateway_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// seeded is random and the same at every run.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// randomBytes fills every place, version and variant bits included.
func randomBytes(r *rand.Rand) (raw [16]byte) {
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return raw
}

func TestIDTextIsItsBytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id   gateway.EventID
		text string
	}{
		{gateway.EventID{}, "evt_00000000000000000000000000"},
		{gateway.EventID{15: 1}, "evt_00000000000000000000000001"},
		{gateway.EventID{15: 31}, "evt_0000000000000000000000000z"},
		{gateway.EventID{15: 32}, "evt_00000000000000000000000010"},
		{gateway.EventID{8: 0x80}, "evt_00000000000008000000000000"},
		{gateway.EventID{7: 0x10}, "evt_00000000000080000000000000"},
		{gateway.EventID{0: 0x20}, "evt_10000000000000000000000000"},
		{gateway.EventID(bytes.Repeat([]byte{0xff}, 16)), "evt_7zzzzzzzzzzzzzzzzzzzzzzzzz"},
	}
	for _, test := range tests {
		if got := test.id.String(); got != test.text {
			t.Errorf("%x is %q, want %q", [16]byte(test.id), got, test.text)
		}
		back, err := gateway.ParseID[gateway.EventID](test.text)
		if err != nil || back != test.id {
			t.Errorf("%q is %x, %v, want %x", test.text, [16]byte(back), err, [16]byte(test.id))
		}
	}
}

func TestIDRoundTrip(t *testing.T) {
	t.Parallel()
	r := seeded()
	for range 10_000 {
		id := gateway.DeliveryID(randomBytes(r))
		back, err := gateway.ParseID[gateway.DeliveryID](id.String())
		if err != nil || back != id {
			t.Fatalf("%x came back as %x, %v", [16]byte(id), [16]byte(back), err)
		}
	}
}

// Every other text is no id: each object has one spelling.
func TestIDHasOneSpelling(t *testing.T) {
	t.Parallel()
	const good = "evt_01jd8vxw5qe9kbr3h6zm2ncfgt"
	if _, err := gateway.ParseID[gateway.EventID](good); err != nil {
		t.Fatalf("the example is no id: %v", err)
	}
	tests := map[string]string{
		"empty":              "",
		"prefix alone":       "evt_",
		"no prefix":          good[4:],
		"another kind":       "dlv" + good[3:],
		"upper case":         strings.ToUpper(good),
		"upper case prefix":  "EVT" + good[3:],
		"upper case digits":  "evt_" + strings.ToUpper(good[4:]),
		"too short":          good[:len(good)-1],
		"too long":           good + "0",
		"more than 128 bits": "evt_8" + good[5:],
		"the letter o for 0": "evt_o" + good[5:],
		"the letter l for 1": "evt_0l" + good[6:],
		"the letter u":       good[:29] + "u",
		"a space behind":     good + " ",
		"a space before":     " " + good,
		"a dash":             "evt-" + good[4:],
		"a NUL":              good[:29] + "\x00",
		"no ASCII":           good[:28] + "é",
		"a UUID":             "evt_01935b1e-f0b7-7c27-8c87-44fd22d3b3fa",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if id, err := gateway.ParseID[gateway.EventID](text); !errors.Is(err, gateway.ErrBadID) || !id.IsZero() {
				t.Errorf("%q is %v, %v, want ErrBadID", text, id, err)
			}
		})
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("evt_01jd8vxw5qe9kbr3h6zm2ncfgt")
	f.Add("evt_7zzzzzzzzzzzzzzzzzzzzzzzzz")
	f.Add("evt_8zzzzzzzzzzzzzzzzzzzzzzzzz")
	f.Add("evt_")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := gateway.ParseID[gateway.EventID](text)
		if err != nil {
			if !errors.Is(err, gateway.ErrBadID) {
				t.Fatalf("error %v, want ErrBadID", err)
			}
			return
		}
		if id.String() != text {
			t.Fatalf("%q is read as %s: two spellings of one id", text, id)
		}
		if !gateway.LooksLikeID(text) || gateway.CheckUID(text) == nil {
			t.Fatalf("%q is an id, and could be a uid too", text)
		}
	})
}

func TestPrefixes(t *testing.T) {
	t.Parallel()
	prefixes := []string{
		gateway.AccountID{}.Prefix(), gateway.UserID{}.Prefix(), gateway.KeyID{}.Prefix(), gateway.SourceID{}.Prefix(),
		gateway.EventID{}.Prefix(), gateway.EndpointID{}.Prefix(), gateway.DeliveryID{}.Prefix(), gateway.AttemptID{}.Prefix(),
		gateway.SecretID{}.Prefix(), gateway.RequestID{}.Prefix(), gateway.AuditID{}.Prefix(),
	}
	want := []string{"acc", "usr", "key", "src", "evt", "ep", "dlv", "att", "sec", "req", "aud"}
	if !slices.Equal(prefixes, want) {
		t.Errorf("prefixes %v, want %v", prefixes, want)
	}
}

func TestIDsInJSON(t *testing.T) {
	t.Parallel()
	type object struct {
		ID   gateway.EndpointID   `json:"id"`
		More []gateway.EndpointID `json:"more"`
		None *gateway.EndpointID  `json:"none"`
	}
	in := object{ID: gateway.EndpointID{1}, More: []gateway.EndpointID{{2}, {3}}}
	text, err := json.Marshal(in)
	const want = `{"id":"ep_01000000000000000000000000","more":["ep_02000000000000000000000000","ep_03000000000000000000000000"],"none":null}`
	if err != nil || string(text) != want {
		t.Fatalf("%s, %v, want %s", text, err, want)
	}
	var out object
	if err := json.Unmarshal(text, &out); err != nil || out.ID != in.ID || !slices.Equal(out.More, in.More) {
		t.Errorf("%+v, %v, want %+v", out, err, in)
	}
	kept := gateway.EndpointID{9}
	if err := kept.UnmarshalText([]byte("evt_01000000000000000000000000")); !errors.Is(err, gateway.ErrBadID) || kept != (gateway.EndpointID{9}) {
		t.Errorf("an id of another kind became %s, %v", kept, err)
	}
}

// The text, the bytes and the time sort alike: cursors and pages rely on it.
func TestIDsSortAlike(t *testing.T) {
	t.Parallel()
	r := seeded()
	ids := make([]gateway.EventID, 500)
	for i := range ids {
		ids[i] = gateway.EventID(randomBytes(r))
	}
	slices.SortFunc(ids, gateway.EventID.Compare)
	for i := range len(ids) - 1 {
		a, b := ids[i], ids[i+1]
		if a.String() >= b.String() || a.Time().After(b.Time()) {
			t.Fatalf("%s (%s) sorts before %s (%s)", a, a.Time(), b, b.Time())
		}
	}
	if n := ids[0].Compare(ids[0]); n != 0 {
		t.Errorf("an id compares to itself as %d", n)
	}
}

func TestFirstIDAt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ at, want time.Time }{
		"a millisecond":    {time.UnixMilli(1_733_000_000_123), time.UnixMilli(1_733_000_000_123)},
		"within it":        {time.UnixMilli(1_733_000_000_123).Add(999_999), time.UnixMilli(1_733_000_000_123)},
		"1970":             {time.Unix(0, 0), time.Unix(0, 0)},
		"before 1970":      {time.Unix(-1, 0), time.Unix(0, 0)},
		"the zero time":    {time.Time{}, time.Unix(0, 0)},
		"the last in JSON": {time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := gateway.FirstIDAt[gateway.EventID](test.at)
			if !id.Time().Equal(test.want) || id.Time().Location() != time.UTC {
				t.Errorf("time %s, want %s in UTC", id.Time(), test.want)
			}
			if tail := id; [10]byte(tail[6:]) != [10]byte{} {
				t.Errorf("%x is not the smallest of its millisecond", [16]byte(id))
			}
		})
	}
}

func TestIDBytes(t *testing.T) {
	t.Parallel()
	raw := randomBytes(seeded())
	var id gateway.SourceID
	if !id.IsZero() {
		t.Error("a new id is not zero")
	}
	id.SetUUID(raw)
	if id.UUID() != raw || id.IsZero() {
		t.Errorf("bytes %x, want %x", id.UUID(), raw)
	}
}

func TestLooksLikeID(t *testing.T) {
	t.Parallel()
	const digits = "01jd8vxw5qe9kbr3h6zm2ncfgt"
	tests := map[string]bool{
		"evt_" + digits:                  true,
		"ep_" + digits:                   true,
		"zzz_" + digits:                  true,
		"e_" + digits:                    false,
		"evts_" + digits:                 false,
		digits:                           false,
		"evt_" + digits[1:]:              false,
		"evt_" + digits + "0":            false,
		"evt_" + strings.ToUpper(digits): false,
		"evt_" + digits[:25] + "u":       false,
		"":                               false,
		"_":                              false,
	}
	for text, want := range tests {
		if got := gateway.LooksLikeID(text); got != want {
			t.Errorf("%q looks like an id: %t", text, got)
		}
	}
}
