package app_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/app"
)

func TestParseRoles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		csv  string
		want app.Roles
		bad  bool
	}{
		{csv: "web,api,ingest,worker", want: app.Roles{Web: true, API: true, Ingest: true, Worker: true}},
		{csv: "worker", want: app.Roles{Worker: true}},
		{csv: " api , ingest ", want: app.Roles{API: true, Ingest: true}},
		{csv: "api,api", want: app.Roles{API: true}},
		{csv: "", bad: true},
		{csv: "api,", bad: true},
		{csv: "API", bad: true},
		{csv: "scheduler", bad: true},
	} {
		got, err := app.ParseRoles(c.csv)
		if c.bad {
			if err == nil {
				t.Errorf("%q is taken for roles", c.csv)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.csv, got, err, c.want)
		}
		if again, err := app.ParseRoles(got.String()); err != nil || again != got {
			t.Errorf("%q is written as %q, which reads as %+v, %v", c.csv, got, again, err)
		}
	}
}
