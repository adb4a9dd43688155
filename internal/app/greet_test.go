package app

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/config"
)

// The banner names what a process serves, and nothing else.
func TestGreetListsWhatTheRolesServe(t *testing.T) {
	t.Parallel()
	const (
		apiLine    = "https://hooks.example.com/api/v1"
		ingestLine = "https://hooks.example.com/ingest/"
		account    = "rowlock account create"
		dashboard  = "  dashboard  https://hooks.example.com\n"
	)
	for csv, want := range map[string][]string{
		"web,api,ingest,worker": {apiLine, ingestLine, dashboard},
		"api":                   {apiLine, account},
		"ingest,worker":         {ingestLine},
		"worker":                {},
		"web":                   {dashboard},
	} {
		roles, err := ParseRoles(csv)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		greet(ServeOptions{Config: config.Config{BaseURL: "https://hooks.example.com"}, Roles: roles, Version: "1.2.3", Stdout: &out}, "")
		if !strings.HasPrefix(out.String(), "Rowlock 1.2.3 is ready.\n") {
			t.Errorf("%s: %s", csv, out.String())
		}
		for _, line := range []string{apiLine, ingestLine, account, dashboard} {
			wanted := false
			for _, w := range want {
				wanted = wanted || w == line
			}
			if strings.Contains(out.String(), line) != wanted {
				t.Errorf("%s: %q wanted: %v, in:\n%s", csv, line, wanted, out.String())
			}
		}
	}
}

// An instance without an owner is told where its owner signs up.
func TestGreetShowsTheSetupLink(t *testing.T) {
	t.Parallel()
	const link = "https://hooks.example.com/signup?setup=token"
	for _, given := range []string{link, ""} {
		var out bytes.Buffer
		greet(ServeOptions{Roles: Roles{Web: true}, Stdout: &out}, given)
		if shown := strings.Contains(out.String(), "  "+link+"\n"); shown != (given != "") {
			t.Errorf("link %q: shown %v, in:\n%s", given, shown, out.String())
		}
	}
}

func TestTheDatabasesEndNamesItsLog(t *testing.T) {
	t.Parallel()
	if !strings.Contains(errDatabaseGone.Error(), "postgres.log") {
		t.Errorf("%v", errDatabaseGone)
	}
}
