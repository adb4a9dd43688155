package manifests

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/config"
)

// root is the repository's top.
const root = "../../.."

var settingName = regexp.MustCompile(`\bROWLOCK_[A-Z_]*[A-Z]\b`)

// noSettings are names that look like settings: what Kubernetes would set by
// itself, and the chart keeps it from.
var noSettings = map[string]bool{"ROWLOCK_PORT": true}

// Every setting that a file of deploy names is one.
func TestDeployNamesSettingsThatAreThere(t *testing.T) {
	t.Parallel()
	known := settings()
	named := 0
	err := filepath.WalkDir(filepath.Join(root, "deploy"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		for _, name := range settingName.FindAllString(read(t, path), -1) {
			named++
			if !known[name] && !noSettings[name] {
				t.Errorf("%s names the setting %s", path, name)
			}
		}
		return nil
	})
	if err != nil || named == 0 {
		t.Errorf("%d names, %v", named, err)
	}
}

var documentedSetting = regexp.MustCompile(`(?m)^#\s+ROWLOCK_[A-Z_]+=\S*(.*)$`)

// What heads of files say to set can be copied into a file of settings as it is:
// systemd takes a comment behind a value for a part of it.
func TestDocumentedSettingsCanBeCopied(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"rowlock.service", "proxy/nginx.conf", "proxy/Caddyfile"} {
		found := documentedSetting.FindAllStringSubmatch(read(t, filepath.Join(root, "deploy", file)), -1)
		if len(found) < 3 {
			t.Errorf("%s names %d settings", file, len(found))
		}
		for _, line := range found {
			if line[1] != "" {
				t.Errorf("%s: something stands behind the value: %s", file, line[0])
			}
		}
	}
}

// settings are the names of all that there are.
func settings() map[string]bool {
	known := map[string]bool{}
	for _, v := range config.Variables() {
		known[v.Name] = true
	}
	return known
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// defaultPort is where a server listens unless told otherwise.
func defaultPort(t *testing.T) string {
	t.Helper()
	for _, v := range config.Variables() {
		if v.Name == "ROWLOCK_LISTEN" {
			return strings.TrimPrefix(v.Default, ":")
		}
	}
	t.Fatal("there is no ROWLOCK_LISTEN")
	return ""
}
