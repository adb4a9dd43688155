package secret_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/secret"
)

func TestOpenChoosesTheKeyThatFits(t *testing.T) {
	t.Parallel()
	s, wrapped := open(t, key(1))
	sealed := seal(t, s, []byte("hunter2"), nil)
	if s.Outdated() {
		t.Error("opened with the current key, yet outdated")
	}
	previous, err := secret.Open(wrapped, key(2), key(3), key(1))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := previous.Unseal(sealed, nil); err != nil || string(got) != "hunter2" || !previous.Outdated() {
		t.Errorf("previous key: %q, %v, outdated %t", got, err, previous.Outdated())
	}
}

func TestOpenWithWrongKeySaysWhatToDo(t *testing.T) {
	t.Parallel()
	_, wrapped := open(t, key(1))
	for _, stored := range [][]byte{wrapped, nil, []byte("junk"), wrapped[:len(wrapped)-1]} {
		_, err := secret.Open(stored, key(2), key(3))
		if !errors.Is(err, secret.ErrWrongMasterKey) || !strings.Contains(err.Error(), "ROWLOCK_MASTER_KEY") {
			t.Errorf("err = %v, want ErrWrongMasterKey", err)
		}
	}
}

func TestTamperedKeysetDoesNotOpen(t *testing.T) {
	t.Parallel()
	s, wrapped := open(t, key(1))
	for i := range wrapped {
		changed := bytes.Clone(wrapped)
		changed[i] ^= 1
		opened, err := secret.Open(changed, key(1))
		if err != nil {
			continue
		}
		// The listing of the keys beside the ciphertext is not authenticated;
		// changing it must not change what the keyset does.
		if plain, err := opened.Unseal(seal(t, s, []byte("x"), nil), nil); err != nil || string(plain) != "x" {
			t.Errorf("byte %d changed the keyset: %v", i, err)
		}
	}
}

func TestWrapChangesTheMasterKey(t *testing.T) {
	t.Parallel()
	s, _ := open(t, key(1))
	sealed := seal(t, s, []byte("hunter2"), nil)
	wrapped, err := s.Wrap(key(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := secret.Open(wrapped, key(1)); !errors.Is(err, secret.ErrWrongMasterKey) {
		t.Errorf("the old master key still opens the new wrapping: %v", err)
	}
	again, err := secret.Open(wrapped, key(2))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Unseal(sealed, nil); err != nil || string(got) != "hunter2" {
		t.Errorf("after wrapping anew: %q, %v", got, err)
	}
}

func TestRotateSealsWithAFreshKey(t *testing.T) {
	t.Parallel()
	old, _ := open(t, key(1))
	before := seal(t, old, []byte("before"), nil)
	rotated, err := old.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	after := seal(t, rotated, []byte("after"), nil)
	if got, err := rotated.Unseal(before, nil); err != nil || string(got) != "before" {
		t.Errorf("sealed before: %q, %v", got, err)
	}
	if _, err := old.Unseal(after, nil); !errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("the old keyset opens what the fresh key sealed: %v", err)
	}
	wrapped, err := rotated.Wrap(key(1))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := secret.Open(wrapped, key(1))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := stored.Unseal(after, nil); err != nil || string(got) != "after" {
		t.Errorf("from the stored keyset: %q, %v", got, err)
	}
}
