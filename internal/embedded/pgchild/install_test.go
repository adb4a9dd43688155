package pgchild

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMajor(t *testing.T) {
	t.Parallel()
	tests := map[string]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": 15,
		"postgres (PostgreSQL) 17.5":                             17,
		"postgres (PostgreSQL) 18beta1":                          18,
		"postgres (PostgreSQL) 9.6.24":                           9,
		"psql 15":                                                0,
		"":                                                       0,
	}
	for text, want := range tests {
		got, err := parseMajor(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("parseMajor(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}

// fake makes an installation that only tells its version.
func fake(t *testing.T, parent string, major int) string {
	t.Helper()
	bin := filepath.Join(parent, strconv.Itoa(major), "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatalf("mkdir: %v", err)
	}
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + strconv.Itoa(major) + ".1'\n"
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatalf("write: %v", err)
		}
	}
	return bin
}

// machine makes one with these installations in well-known places, and with
// these directories on the PATH. Tests that use it are not parallel.
func machine(t *testing.T, places string, path ...string) {
	t.Helper()
	before := wellKnown
	t.Cleanup(func() { wellKnown = before })
	wellKnown = []string{filepath.Join(places, "*", "bin")}
	t.Setenv("PATH", strings.Join(append(path, t.TempDir()), string(os.PathListSeparator)))
}

func TestInstallsInOrder(t *testing.T) {
	places, linked := t.TempDir(), t.TempDir()
	for _, major := range []int{14, 16, 17} {
		fake(t, places, major)
	}
	// The PATH has links, as distributions make them.
	chosen := fake(t, t.TempDir(), 15)
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.Symlink(filepath.Join(chosen, name), filepath.Join(linked, name)); err != nil {
			t.Fatalf("link: %v", err)
		}
	}
	machine(t, places, linked)
	var got []int
	for _, i := range Installs(t.Context()) {
		got = append(got, i.Major)
	}
	if diff := cmp.Diff([]int{15, 17, 16, 14}, got); diff != "" {
		t.Errorf("Installs() (-want +got):\n%s", diff)
	}
	if i, err := Find(t.Context(), User{}); err != nil || i.Bin != chosen {
		t.Errorf("Find() = %v, %v, want the PATH's", i, err)
	}
}

func TestFindTakesTheNewest(t *testing.T) {
	places := t.TempDir()
	fake(t, places, 15)
	newest := fake(t, places, 17)
	machine(t, places)
	if i, err := Find(t.Context(), User{}); err != nil || i.Bin != newest {
		t.Errorf("Find() = %v, %v, want %s", i, err, newest)
	}
}

func TestFindNothing(t *testing.T) {
	machine(t, t.TempDir())
	if _, err := Find(t.Context(), User{}); !errors.Is(err, ErrNoInstall) {
		t.Errorf("Find() = %v, want ErrNoInstall", err)
	}
}

func TestFindNothingNewEnough(t *testing.T) {
	places := t.TempDir()
	old := fake(t, places, 14)
	machine(t, places)
	_, err := Find(t.Context(), User{})
	if !errors.Is(err, ErrNoInstall) || !strings.Contains(err.Error(), old) {
		t.Errorf("Find() = %v, want ErrNoInstall that names %s", err, old)
	}
}

func TestInspectRefusesHalfAnInstall(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"postgres", "initdb"} {
		bin := fake(t, t.TempDir(), 17)
		if err := os.Remove(filepath.Join(bin, missing)); err != nil {
			t.Fatalf("remove: %v", err)
		}
		if i, err := Inspect(t.Context(), bin); err == nil {
			t.Errorf("Inspect() without %s = %v", missing, i)
		}
	}
}
