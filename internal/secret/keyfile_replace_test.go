package secret_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rowlock/rowlock/internal/secret"
)

func replaced(t *testing.T, dir string, want bool) {
	t.Helper()
	if made, err := secret.ReplaceMasterKey(dir); err != nil || made != want {
		t.Fatalf("replace: %t, %v; want %t", made, err, want)
	}
}

func TestReplaceMasterKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := secret.ReplaceMasterKey(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("replacing what is not there: %v", err)
	}
	old, err := secret.LoadOrCreateMasterKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	replaced(t, dir, true)
	current, previous, err := secret.LoadMasterKeys(dir)
	if err != nil || current == old || len(previous) != 1 || previous[0] != old {
		t.Fatalf("after: another key %t, %d before it, %v", current != old, len(previous), err)
	}
	// Again, as after a crash: it goes on with the same two.
	replaced(t, dir, false)
	if again, err := secret.LoadOrCreateMasterKey(dir); err != nil || again != current {
		t.Errorf("a second key was made, %v", err)
	}
	for _, name := range []string{"master.key", "master.key.previous"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 0600", name, info, err)
		}
	}
	for _, want := range []bool{true, false} {
		if dropped, err := secret.DropPreviousMasterKey(dir); err != nil || dropped != want {
			t.Errorf("drop: %t, %v; want %t", dropped, err, want)
		}
	}
	onlyTheKey(t, dir)
	if again, previous, err := secret.LoadMasterKeys(dir); err != nil || again != current || len(previous) != 0 {
		t.Errorf("in the end: the new key %t, %d before it, %v", again == current, len(previous), err)
	}
}

// A crash between keeping the former key and writing the new one leaves the
// same key under both names: the next run makes the new one.
func TestReplaceMasterKeyAfterACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, err := secret.LoadOrCreateMasterKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "master.key"), filepath.Join(dir, "master.key.previous")); err != nil {
		t.Fatal(err)
	}
	replaced(t, dir, true)
	if current, previous, err := secret.LoadMasterKeys(dir); err != nil || current == old || len(previous) != 1 || previous[0] != old {
		t.Errorf("another key %t, %d before it, %v", current != old, len(previous), err)
	}
}

// A former key that cannot be read stops everything: perhaps nothing else
// opens the secrets.
func TestABadFormerKeyIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := secret.LoadOrCreateMasterKey(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "master.key.previous")
	if err := os.WriteFile(path, []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.ReplaceMasterKey(dir); !errors.Is(err, secret.ErrMasterKey) {
		t.Errorf("err = %v, want ErrMasterKey", err)
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != "half a k" {
		t.Errorf("it was changed to %q, %v", kept, err)
	}
}
