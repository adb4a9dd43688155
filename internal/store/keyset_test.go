package store_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/store"
)

// Of twenty nodes that start together, one gives the keyset.
func TestKeyset(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t).wide(t, n)
	kept := make([][]byte, n)
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			kept[i], errs[i] = store.Keyset(t.Context(), b.pool, []byte{byte(i), 0, 0xff})
		})
	}
	close(start)
	all.Wait()
	wantErrors(t, errs, n, nil)
	for i := range n {
		if !bytes.Equal(kept[i], kept[0]) || len(kept[i]) != 3 {
			t.Errorf("%d was given %x, another %x", i, kept[i], kept[0])
		}
	}
	later, err := store.Keyset(t.Context(), b.pool, []byte("another"))
	if err != nil || !bytes.Equal(later, kept[0]) || b.count(t, `SELECT count(*) FROM keyset`) != 1 {
		t.Errorf("later %x is given, %v, want %x", later, err, kept[0])
	}
}
