package pgtest

import (
	"testing"
	"testing/fstest"
	"time"
)

func TestTemplateName(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 23, 0, 0, 0, time.UTC)
	files := func(text string) fstest.MapFS { return fstest.MapFS{"0001_a.sql": {Data: []byte(text)}} }
	base := mustName(t, now, files("SELECT 1"))
	tests := map[string]struct {
		at    time.Time
		files fstest.MapFS
		same  bool
	}{
		"same migrations":  {now.Add(time.Minute), files("SELECT 1"), true},
		"other text":       {now, files("SELECT 2"), false},
		"another day":      {now.Add(time.Hour), files("SELECT 1"), false},
		"one more file":    {now, fstest.MapFS{"0001_a.sql": {Data: []byte("SELECT 1")}, "0002_b.sql": {}}, false},
		"another name":     {now, fstest.MapFS{"0001_b.sql": {Data: []byte("SELECT 1")}}, false},
		"text moved along": {now, fstest.MapFS{"0001_a.sql": {Data: []byte("SELECT")}, "0002 1": {}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mustName(t, test.at, test.files); (got == base) != test.same {
				t.Errorf("template %s, base %s, want same %t", got, base, test.same)
			}
		})
	}
}

func mustName(t *testing.T, at time.Time, files fstest.MapFS) string {
	t.Helper()
	name, err := templateFor(at, files)
	if err != nil {
		t.Fatalf("templateFor() = %v", err)
	}
	return name
}

func TestAddressOf(t *testing.T) {
	t.Parallel()
	tests := []struct{ server, want string }{
		{"postgres://u:p@h:5/postgres?sslmode=disable", "postgres://u:p@h:5/x?sslmode=disable"},
		{"postgres:///postgres?host=%2Ftmp", "postgres:///x?host=%2Ftmp"},
		{"host=/tmp user=u password=hunter2", ""},
		{"postgres://u:hunter2@h:port/postgres", ""},
	}
	for _, test := range tests {
		got, err := addressOf(test.server, "x")
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("addressOf(%q) = %q, %v, want %q", test.server, got, err, test.want)
		}
	}
}
