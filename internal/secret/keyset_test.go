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

func TestReopenTakesOverWhatWasRotated(t *testing.T) {
	t.Parallel()
	node, _ := open(t, key(1))
	stale := node.KeyID()
	rotated, err := node.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, rotated, []byte("hunter2"), nil)
	if id, ok := secret.KeyOf(sealed); !ok || id != rotated.KeyID() || id == stale || !bytes.HasPrefix(sealed, id.Prefix()) {
		t.Errorf("sealed with %s, %t; the sealer says %s", id, ok, rotated.KeyID())
	}
	wrapped, err := rotated.Rewrap()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Reopen([]byte("junk")); !errors.Is(err, secret.ErrWrongMasterKey) || node.KeyID() != stale {
		t.Errorf("junk: %v, and it seals with %s", err, node.KeyID())
	}
	if err := node.Reopen(wrapped); err != nil {
		t.Fatal(err)
	}
	if got, err := node.Unseal(sealed, nil); err != nil || string(got) != "hunter2" || node.KeyID() != rotated.KeyID() {
		t.Errorf("after reopening: %q, %v, and it seals with %s", got, err, node.KeyID())
	}
}

// A master key that lies in a file is asked for each time.
func TestReopenAsksForTheMasterKeys(t *testing.T) {
	t.Parallel()
	now, before := key(1), []secret.MasterKey(nil)
	_, wrapped := open(t, key(1))
	node, err := secret.OpenWith(wrapped, func() (secret.MasterKey, []secret.MasterKey, error) { return now, before, nil })
	if err != nil {
		t.Fatal(err)
	}
	now, before = key(2), []secret.MasterKey{key(1)}
	if err := node.Reopen(wrapped); err != nil || !node.Outdated() {
		t.Errorf("under the former key: %v, outdated %t", err, node.Outdated())
	}
	want := []string{key(2).Fingerprint(), key(1).Fingerprint()}
	if got := node.Masters(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] || got[0] == got[1] {
		t.Errorf("masters are %v, want %v", got, want)
	}
	rewrapped, err := node.Rewrap()
	if err != nil {
		t.Fatal(err)
	}
	before = nil
	if err := node.Reopen(rewrapped); err != nil || node.Outdated() {
		t.Errorf("under the new key: %v, outdated %t", err, node.Outdated())
	}
}

func TestForgetKeepsTheKeyThatSeals(t *testing.T) {
	t.Parallel()
	old, _ := open(t, key(1))
	rotated, err := old.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	forgot, err := rotated.Forget()
	if err != nil {
		t.Fatal(err)
	}
	if ids := forgot.KeyIDs(); len(ids) != 1 || ids[0] != rotated.KeyID() || len(rotated.KeyIDs()) != 2 {
		t.Errorf("left are %v of %v", ids, rotated.KeyIDs())
	}
	if got, err := forgot.Unseal(seal(t, rotated, []byte("new"), nil), nil); err != nil || string(got) != "new" {
		t.Errorf("sealed with the key that stays: %q, %v", got, err)
	}
	if _, err := forgot.Unseal(seal(t, old, []byte("old"), nil), nil); !errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("sealed with the key that is gone: %v", err)
	}
}

func TestKeyOfWhatIsNotSealed(t *testing.T) {
	t.Parallel()
	for _, junk := range [][]byte{nil, {1, 2, 3, 4}, []byte("whsec_hunter2")} {
		if id, ok := secret.KeyOf(junk); ok {
			t.Errorf("%q was sealed with %s", junk, id)
		}
	}
}
