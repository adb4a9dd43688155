package secret_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/secret"
)

func TestLoadOrCreateMasterKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet")
	first, err := secret.LoadOrCreateMasterKey(dir)
	if err != nil || first == (secret.MasterKey{}) {
		t.Fatalf("create: %v", err)
	}
	again, err := secret.LoadOrCreateMasterKey(dir)
	if err != nil || again != first {
		t.Errorf("the second call returns another key, or %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, "master.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file = %v, %v; want mode 0600", info, err)
	}
	onlyTheKey(t, dir)
}

// onlyTheKey fails when a draft was left behind.
func onlyTheKey(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files = %v, %v; want master.key alone", entries, err)
	}
}

func TestCreatingTogetherGivesOneKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const starters = 16
	var keys [starters]secret.MasterKey
	var errs [starters]error
	var wg sync.WaitGroup
	for i := range starters {
		wg.Go(func() { keys[i], errs[i] = secret.LoadOrCreateMasterKey(dir) })
	}
	wg.Wait()
	for i := range starters {
		if errs[i] != nil || keys[i] != keys[0] {
			t.Errorf("starter %d has another key, or %v", i, errs[i])
		}
	}
	onlyTheKey(t, dir)
}

func TestABadKeyFileIsKept(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "half a k"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "master.key")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := secret.LoadOrCreateMasterKey(dir); !errors.Is(err, secret.ErrMasterKey) {
			t.Errorf("%q: err = %v, want ErrMasterKey", content, err)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != content {
			t.Errorf("%q was changed to %q, %v", content, kept, err)
		}
	}
}

func TestKeyFileErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.LoadOrCreateMasterKey(file); err == nil {
		t.Error("a file passes for a data directory")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "master.key"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.LoadOrCreateMasterKey(dir); err == nil {
		t.Error("a directory passes for a key file")
	}
}
