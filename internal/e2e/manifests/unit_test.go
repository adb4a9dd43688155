package manifests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exposureLimit is in tenths of what systemd-analyze calls exposure, from 0 to 100:
// what a server on the network cannot do without makes some 14.
const exposureLimit = "20"

// The unit starts the program again whatever it ended with: a program in Go that
// panics ends with 2, as one that cannot use a setting.
func TestUnitAlwaysStartsAgain(t *testing.T) {
	t.Parallel()
	text := read(t, filepath.Join(root, "deploy", "rowlock.service"))
	if !strings.Contains(text, "\nRestart=always\n") || !strings.Contains(text, "\nStartLimitIntervalSec=0\n") || strings.Contains(text, "RestartPreventExitStatus") {
		t.Error("the unit stays ended after some ends")
	}
}

// systemd finds nothing wrong with the unit, and little that it could do to the
// machine.
func TestUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("this machine has no systemd-analyze: apt-get install systemd")
	}
	// The program is not installed here; another one stands in its place.
	text := strings.ReplaceAll(read(t, filepath.Join(root, "deploy", "rowlock.service")), "/usr/local/bin/rowlock", "/bin/true")
	unit := filepath.Join(t.TempDir(), "rowlock.service")
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "--man=no", unit},
		{"security", "--offline=true", "--threshold=" + exposureLimit, unit},
	} {
		out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
		if err != nil || args[0] == "verify" && strings.Contains(string(out), "rowlock.service") {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}
