package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestParsePID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "\n": 0, "123": 123, "123\n/data\n": 123, " 7 \nx": 7, "-9\n": 0, "abc\n12": 0, "99999999999999999999": 0,
	} {
		if got := parsePID(text); got != want {
			t.Errorf("parsePID(%q) = %d, want %d", text, got, want)
		}
	}
}

func FuzzParsePID(f *testing.F) {
	f.Add("123\n/data\n")
	f.Add("-1")
	f.Fuzz(func(t *testing.T, text string) {
		// A negative number would name a whole group of processes.
		if pid := parsePID(text); pid < 0 {
			t.Errorf("parsePID(%q) = %d", text, pid)
		}
	})
}

func TestURLSurvivesAnyPath(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/var/lib/rowlock", "/tmp/with space & sign?", "/tmp/ümlaut%2F"} {
		l, err := newLayout(dir)
		if err != nil {
			t.Fatalf("newLayout() = %v", err)
		}
		config, err := pgx.ParseConfig(l.url(role, database))
		if err != nil {
			t.Fatalf("ParseConfig() = %v", err)
		}
		got := []string{config.Host, config.User, config.Database, config.Password}
		if diff := cmp.Diff([]string{dir + "/postgres", "rowlock", "rowlock", ""}, got); diff != "" {
			t.Errorf("url of %s (-want +got):\n%s", dir, diff)
		}
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	const want = `# Written by Rowlock at each start.
rowlock "root" rowlock
rowlock "root" postgres
rowlock "al""ice" rowlock
rowlock "al""ice" postgres
`
	if diff := cmp.Diff(want, identities("root", `al"ice`, "root")); diff != "" {
		t.Errorf("identities (-want +got):\n%s", diff)
	}
}

func TestLogIsPutAside(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "postgres.log")
	if err := os.WriteFile(path, make([]byte, logMax+1), 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
	f, err := openLog(path)
	if err != nil {
		t.Fatalf("openLog() = %v", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if info, err := f.Stat(); err != nil || info.Size() != 0 || !exists(path+".1") {
		t.Errorf("the log has %d bytes, %v; put aside: %t", info.Size(), err, exists(path+".1"))
	}
}
