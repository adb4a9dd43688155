package store_test

import (
	"slices"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Ids go to the database and back by their bytes: alone, in arrays, and as
// NULL where there is none.
func TestIDsInTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id, other := gateway.EventID(b.clock.NewID()), gateway.EventID{15: 1}
	var text string
	var back gateway.EventID
	var pointer, null *gateway.EventID
	var list, empty []gateway.EventID
	err := b.pool.QueryRow(t.Context(), `SELECT $1::uuid::text, $1::uuid, $2::uuid, $3::uuid, $4::uuid[], $5::uuid[]`,
		id, &other, null, []gateway.EventID{id, other}, []gateway.EventID{}).Scan(&text, &back, &pointer, &null, &list, &empty)
	if err != nil {
		t.Fatal(err)
	}
	if back != id || pointer == nil || *pointer != other || null != nil || !slices.Equal(list, []gateway.EventID{id, other}) || len(empty) != 0 {
		t.Errorf("back came %s, %v, %v, %v, %v", back, pointer, null, list, empty)
	}
	raw := id.UUID()
	const digits = "0123456789abcdef"
	var want []byte
	for i, c := range raw {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			want = append(want, '-')
		}
		want = append(want, digits[c>>4], digits[c&15])
	}
	if text != string(want) {
		t.Errorf("the database has %s, want %s", text, want)
	}
}

func TestIDsRefuseWhatIsNone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, sql := range []string{`SELECT NULL::uuid`, `SELECT 'text'`, `SELECT 7`} {
		kept := gateway.EventID{1}
		if err := b.pool.QueryRow(t.Context(), sql).Scan(&kept); err == nil {
			t.Errorf("%s is the id %s", sql, kept)
		}
	}
}

// The database sorts ids as we do.
func TestIDsSortAlikeInTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := seeded()
	ids := make([]gateway.EventID, 1000)
	for i := range ids {
		for k := range ids[i] {
			ids[i][k] = byte(r.Uint32())
		}
	}
	var sorted []gateway.EventID
	err := b.pool.QueryRow(t.Context(), `SELECT array_agg(id ORDER BY id) FROM unnest($1::uuid[]) AS id`, ids).Scan(&sorted)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(ids, gateway.EventID.Compare)
	if !slices.Equal(sorted, ids) {
		t.Error("another order in the database")
	}
}
