package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// module is where every import path of ours begins.
const module = "github.com/rowlock/rowlock/"

// Groups of rooms that several others may import.
var (
	leaves = []string{
		"internal/clock", "internal/config", "internal/egress", "internal/gateway",
		"internal/job", "internal/rule", "internal/schema", "internal/search", "internal/secret", "internal/signature",
	}
	useCases = []string{
		"internal/accept", "internal/account", "internal/claim", "internal/decide", "internal/deliver",
		"internal/endpoint", "internal/eventtype", "internal/explore", "internal/notify", "internal/operate", "internal/reconcile", "internal/retain", "internal/rotate", "internal/source",
	}
	pages    = []string{"static", "web"}
	handlers = slices.Concat(useCases, leaves, pages, []string{"internal/store", "internal/server/access", "internal/server/body", "internal/server/configuration", "internal/server/problem"})
)

// rooms says what each folder of packages may import of ours, tests aside. A
// room is a folder with all below it, save what has a row of its own, and its
// packages may import one another. A package in no room fails the test.
var rooms = map[string][]string{
	"internal/gateway":   nil,
	"internal/client":    nil,
	"internal/clock":     {"internal/gateway"},
	"internal/config":    {"internal/gateway"},
	"internal/egress":    {"internal/gateway"},
	"internal/job":       {"internal/gateway"},
	"internal/farside":   nil,
	"internal/listener":  {"internal/client", "internal/egress", "internal/gateway"},
	"internal/demo":      {"internal/client", "internal/egress", "internal/receiver", "internal/signature"},
	"internal/receiver":  nil,
	"internal/rule":      {"internal/gateway"},
	"internal/schema":    nil,
	"internal/search":    {"internal/gateway"},
	"internal/secret":    {"internal/gateway"},
	"internal/signature": {"internal/gateway"},
	"migrations":         nil,
	"static":             nil,
	"web/component":      nil,

	"internal/embedded": nil,
	"internal/migrate":  {"migrations"},
	"internal/store":    {"internal/gateway", "internal/job", "internal/secret"},
	"web/docs":          nil,
	"web/layout":        {"static", "web/component"},
	"web/page":          {"internal/gateway", "static", "web/component", "web/docs", "web/layout"},

	"internal/accept":    useCase,
	"internal/account":   useCase,
	"internal/claim":     useCase,
	"internal/decide":    useCase,
	"internal/deliver":   useCase,
	"internal/endpoint":  useCase,
	"internal/eventtype": useCase,
	"internal/explore":   useCase,
	"internal/notify":    useCase,
	"internal/operate":   useCase,
	"internal/reconcile": useCase,
	"internal/retain":    useCase,
	"internal/rotate":    useCase,
	"internal/source":    useCase,

	// What a source's settings mean, for who edits them and who obeys them.
	"internal/source/settings": {"internal/gateway", "internal/signature"},

	"internal/metrics":        {"internal/decide", "internal/gateway", "internal/job", "internal/store"},
	"internal/tracing":        {"internal/decide", "internal/gateway"},
	"internal/worker":         slices.Concat(useCases, []string{"internal/clock", "internal/gateway", "internal/job"}),
	"internal/server/access":  {"internal/gateway"},
	"internal/server/body":    {"internal/gateway"},
	"internal/server/problem": slices.Concat(useCases, leaves, []string{"internal/server/body"}),
	// How callers write endpoints, sources, rules and event types, alone and all
	// together.
	"internal/server/api/strictjson": nil,
	"internal/server/resource":       slices.Concat(useCases, leaves, []string{"internal/server/api/strictjson", "internal/server/problem"}),
	"internal/server/configuration": slices.Concat(useCases, leaves, []string{
		"internal/server/api/strictjson", "internal/server/problem", "internal/server/resource", "internal/store",
	}),
	"internal/server/ingest":    {"internal/accept", "internal/gateway", "internal/server/body", "internal/server/problem"},
	"internal/server/api":       slices.Concat(handlers, []string{"internal/server/api/strictjson", "internal/server/resource"}),
	"internal/server/dashboard": handlers,
	"internal/server": slices.Concat(handlers, []string{
		"internal/server/api", "internal/server/dashboard", "internal/server/ingest",
	}),

	"internal/app": slices.Concat(leaves, useCases, []string{
		"internal/client", "internal/embedded", "internal/metrics", "internal/migrate", "internal/server", "internal/server/api", "internal/server/dashboard",
		"internal/server/ingest", "internal/store", "internal/tracing", "internal/worker",
	}),
	"cmd": {"internal/app", "internal/bench/load", "internal/client", "internal/config", "internal/demo", "internal/listener", "internal/receiver"},

	"internal/pgtest": slices.Concat(leaves, []string{"internal/embedded", "internal/migrate", "internal/store", "migrations"}),
	// It is part of the program: what else measures may use what tests use.
	"internal/bench/load": {"internal/client"},
	"internal/bench":      slices.Concat(leaves, []string{"internal/bench/load", "internal/client", "internal/migrate", "internal/pgtest", "internal/store"}),
	"internal/e2e":        {"internal/gateway", "internal/pgtest"},
}

// useCase is what a use case may import: no other use case, and nothing above.
var useCase = slices.Concat(leaves, []string{"internal/source/settings", "internal/store"})

// libraries names modules that only some rooms may touch, and where.
var libraries = map[string][]string{
	"cel.dev":                    {"internal/rule"},
	"github.com/jackc/pgx":       {"internal/app", "internal/bench", "internal/embedded", "internal/migrate", "internal/pgtest", "internal/store"},
	"github.com/labstack/echo":   {"internal/server"},
	"go.opentelemetry.io":        {"internal/app", "internal/tracing"},
	"github.com/prometheus":      {"internal/app", "internal/metrics", "internal/server"},
	"github.com/riverqueue":      {"internal/app", "internal/job", "internal/migrate", "internal/store", "internal/worker"},
	"github.com/spf13/cobra":     {"cmd"},
	"riverqueue.com":             {"internal/app"},
	"github.com/alecthomas":      {"web/docs"},
	"github.com/yuin":            {"web/docs"},
	"github.com/santhosh-tekuri": {"internal/schema"},
	"github.com/wneessen":        {"internal/notify"},
}

// standardOnly are rooms that import nothing from outside but Go's own
// packages.
var standardOnly = []string{"internal/client", "internal/gateway", "internal/receiver", "internal/signature", "migrations"}

// listed is what go list tells of a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportsFollowTheRules(t *testing.T) {
	t.Parallel()
	packages := list(t)
	if len(packages) == 0 {
		t.Fatal("go list found no package")
	}
	for _, p := range packages {
		for _, problem := range violations(p) {
			t.Error(problem)
		}
	}
}

// list asks go for every package of the module.
func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// violations tells each rule that a package breaks.
func violations(p listed) []string {
	path := strings.TrimPrefix(p.ImportPath, module)
	room := roomOf(path)
	if room == "" {
		return []string{path + " is in no room: give it a row in rooms"}
	}
	var found []string
	for _, imported := range p.Imports {
		if problem := violation(room, imported); problem != "" {
			found = append(found, path+problem)
		}
	}
	for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
		if imported == module+"internal/app" && room != "internal/app" && room != "cmd" {
			found = append(found, path+" imports internal/app in a test")
		}
	}
	return found
}

// violation tells why a room may not import a package; empty when it may.
func violation(room, imported string) string {
	if ours, ok := strings.CutPrefix(imported, module); ok {
		target := roomOf(ours)
		if target == room || slices.ContainsFunc(rooms[room], func(allowed string) bool { return within(target, allowed) }) {
			return ""
		}
		return " may not import " + ours
	}
	first, _, _ := strings.Cut(imported, "/")
	if strings.Contains(first, ".") && slices.Contains(standardOnly, room) {
		return fmt.Sprintf(" may import the standard library only, not %s", imported)
	}
	for library, homes := range libraries {
		if within(imported, library) && !slices.ContainsFunc(homes, func(home string) bool { return within(room, home) }) {
			return " may not import " + imported
		}
	}
	return ""
}

// roomOf returns the innermost room that holds a path; empty when none does.
func roomOf(path string) (room string) {
	for candidate := range rooms {
		if within(path, candidate) && len(candidate) > len(room) {
			room = candidate
		}
	}
	return room
}

// within tells whether a path is a folder or below it. Of a module's path,
// what follows may be its major version.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func TestRulesFindWhatBreaksThem(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path    string
		imports []string
		tests   []string
		want    []string
	}{
		"a leaf may use the domain":        {path: "internal/job", imports: []string{module + "internal/gateway", "time"}},
		"a room may use itself":            {path: "internal/embedded", imports: []string{module + "internal/embedded/child"}},
		"pages are one group":              {path: "internal/server/api", imports: []string{module + "web/page"}},
		"a test may use anything but app":  {path: "internal/store", tests: []string{module + "internal/pgtest"}},
		"the domain uses nothing":          {path: "internal/gateway", imports: []string{module + "internal/job"}, want: []string{"internal/gateway may not import internal/job"}},
		"the domain uses no library":       {path: "internal/gateway", imports: []string{"golang.org/x/sync/errgroup"}, want: []string{"internal/gateway may import the standard library only, not golang.org/x/sync/errgroup"}},
		"a use case uses no other":         {path: "internal/accept", imports: []string{module + "internal/decide"}, want: []string{"internal/accept may not import internal/decide"}},
		"the store uses no use case":       {path: "internal/store", imports: []string{module + "internal/accept"}, want: []string{"internal/store may not import internal/accept"}},
		"API and dashboard do not meet":    {path: "internal/server/api", imports: []string{module + "internal/server/dashboard"}, want: []string{"internal/server/api may not import internal/server/dashboard"}},
		"server and worker do not meet":    {path: "internal/server", imports: []string{module + "internal/worker"}, want: []string{"internal/server may not import internal/worker"}},
		"pages do not read the store":      {path: "web/page", imports: []string{module + "internal/store"}, want: []string{"web/page may not import internal/store"}},
		"production uses no test database": {path: "internal/app", imports: []string{module + "internal/pgtest"}, want: []string{"internal/app may not import internal/pgtest"}},
		"nothing uses app":                 {path: "internal/worker", imports: []string{module + "internal/app"}, want: []string{"internal/worker may not import internal/app"}},
		"nor do tests":                     {path: "internal/worker", tests: []string{module + "internal/app"}, want: []string{"internal/worker imports internal/app in a test"}},
		"pgx stays in its rooms":           {path: "internal/accept", imports: []string{"github.com/jackc/pgx/v5"}, want: []string{"internal/accept may not import github.com/jackc/pgx/v5"}},
		"echo serves anywhere in server":   {path: "internal/server/ingest", imports: []string{"github.com/labstack/echo/v4"}},
		"River is not for the server":      {path: "internal/server", imports: []string{"github.com/riverqueue/river"}, want: []string{"internal/server may not import github.com/riverqueue/river"}},
		"a new room needs a row":           {path: "internal/novel", want: []string{"internal/novel is in no room: give it a row in rooms"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := violations(listed{ImportPath: module + tt.path, Imports: tt.imports, XTestImports: tt.tests})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}
