package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/config"
)

// result is how a call ended.
type result struct {
	code           int
	stdout, stderr string
}

// call runs rowlock with no more environment than is given.
func call(t *testing.T, stdin string, environ []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), program{args: args, environ: environ, stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr})
	return result{code, stdout.String(), stderr.String()}
}

func TestBadUsageSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args    []string
		environ []string
		stdin   string
		says    string
		hint    string
	}{
		"unknown command":       {args: []string{"bogus"}, says: `"bogus" is not a command`, hint: "rowlock --help"},
		"near miss":             {args: []string{"serv"}, says: "did you mean serve?", hint: "rowlock --help"},
		"unknown below":         {args: []string{"migrate", "down"}, says: `"down" is not a command of rowlock migrate`, hint: "rowlock migrate --help"},
		"nothing below":         {args: []string{"migrate"}, says: "status, up", hint: "rowlock migrate --help"},
		"unknown flag":          {args: []string{"serve", "--port", "1"}, says: "unknown flag: --port", hint: "rowlock serve --help"},
		"bad flag":              {args: []string{"receiver", "--delay", "soon"}, says: "invalid argument", hint: "rowlock receiver --help"},
		"extra argument":        {args: []string{"version", "x"}, says: "no argument", hint: "rowlock version --help"},
		"unknown role":          {args: []string{"serve", "--roles", "web,cook"}, says: "--roles: ", hint: "rowlock serve --help"},
		"bad setting":           {args: []string{"serve"}, environ: []string{"ROWLOCK_WORKERS=many"}, says: `ROWLOCK_WORKERS is "many"`, hint: "rowlock serve --help"},
		"bad setting, migrate":  {args: []string{"migrate", "up"}, environ: []string{"ROWLOCK_WORKERS=many"}, says: "ROWLOCK_WORKERS", hint: "lists every setting"},
		"bad setting, status":   {args: []string{"migrate", "status"}, environ: []string{"ROWLOCK_WORKERS=many"}, says: "ROWLOCK_WORKERS", hint: "lists every setting"},
		"bad setting, account":  {args: []string{"account", "create", "--name", "A", "--email", "a@b.c"}, environ: []string{"ROWLOCK_WORKERS=many"}, says: "ROWLOCK_WORKERS", hint: "lists every setting"},
		"account without name":  {args: []string{"account", "create", "--email", "a@b.c"}, says: "--name is missing", hint: "account create --help"},
		"account without email": {args: []string{"account", "create", "--name", "A"}, says: "--email is missing", hint: "account create --help"},
		"account, no password":  {args: []string{"account", "create", "--name", "A", "--email", "a@b.c", "--password-stdin"}, stdin: "\n", says: "standard input is empty", hint: "account create --help"},
		"account, long one":     {args: []string{"account", "create", "--name", "A", "--email", "a@b.c", "--password-stdin"}, stdin: strings.Repeat("x", 5000), says: "longer than", hint: "account create --help"},
		"off without email":     {args: []string{"account", "two-step-off"}, says: "--email is missing", hint: "account two-step-off --help"},
		"link without email":    {args: []string{"account", "reset-link"}, says: "--email is missing", hint: "account reset-link --help"},
		"send nothing":          {args: []string{"send"}, says: "type is missing", hint: "rowlock send --help"},
		"send unquoted":         {args: []string{"send", "a.b", "--data", "{", "1}"}, says: "need quotes", hint: "rowlock send --help"},
		"send no JSON":          {args: []string{"send", "a.b", "--data", "{a:1}"}, says: "not JSON at line 1, column 2", hint: "single quotes"},
		"send no key":           {args: []string{"send", "a.b"}, says: "ROWLOCK_API_KEY is not set", hint: "account create"},
		"send, empty key":       {args: []string{"send", "a.b", "--key", ""}, environ: []string{"ROWLOCK_API_KEY=rk_a"}, says: "--key is empty", hint: "send --help"},
		"help for nothing":      {args: []string{"help", "nope"}, says: `"nope"`, hint: "rowlock"},
		"help below nothing":    {args: []string{"help", "migrate", "nope"}, says: `"nope" is not a command of rowlock migrate`, hint: "rowlock"},
		"no tracing address":    {args: []string{"serve"}, environ: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=notaurl"}, says: "OTEL_EXPORTER_OTLP_ENDPOINT", hint: "rowlock serve --help"},
		"receiver bad rate":     {args: []string{"receiver", "--fail-rate", "2"}, says: "not between 0 and 1", hint: "receiver --help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := call(t, tt.stdin, tt.environ, tt.args...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("exit code %d, printed %q; want %d and nothing", got.code, got.stdout, exitUsage)
			}
			problem, hint, _ := strings.Cut(got.stderr, "\nHint: ")
			if !strings.HasPrefix(problem, "rowlock: ") || !strings.Contains(problem, tt.says) || !strings.Contains(hint, tt.hint) {
				t.Errorf("stderr is %q, want %q and the hint %q", got.stderr, tt.says, tt.hint)
			}
		})
	}
}

func TestDoctorFindsBadSettings(t *testing.T) {
	t.Parallel()
	got := call(t, "", []string{"ROWLOCK_WORKERS=many"}, "doctor")
	if got.code != exitFailure || !strings.Contains(got.stderr, "ROWLOCK_WORKERS") {
		t.Errorf("got %+v, want a fault and exit code %d", got, exitFailure)
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		path := strings.Fields(cmd.CommandPath())[1:]
		got := call(t, "", nil, append(path, "--help")...)
		if got.code != exitOK || !strings.Contains(got.stdout, "Examples:\n  ") || got.stderr != "" {
			t.Errorf("rowlock %s --help: exit code %d, %q, no example in %q", strings.Join(path, " "), got.code, got.stderr, got.stdout)
		}
	}
	visit(newRoot(program{}))
}

func TestHelpOfServeListsEverySetting(t *testing.T) {
	t.Parallel()
	help := call(t, "", nil, "serve", "--help").stdout
	for _, v := range config.Variables() {
		if !strings.Contains(help, v.Name) || !strings.Contains(help, v.Default) || !strings.Contains(help, v.Meaning) {
			t.Errorf("%s is not explained", v.Name)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	got := call(t, "", nil, "version")
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "rowlock "+versionText()+" (go") {
		t.Errorf("got %+v", got)
	}
}

func TestAloneItShowsHelp(t *testing.T) {
	t.Parallel()
	if got := call(t, "", nil); got.code != exitOK || !strings.Contains(got.stdout, "Acknowledged is never lost") {
		t.Errorf("got %+v", got)
	}
}

// gateway is a server that answers every event alike and tells what it got.
func gateway(t *testing.T, status int, answer string) (environ []string, bodies <-chan string) {
	t.Helper()
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request: %v", err)
		}
		seen <- string(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return []string{"ROWLOCK_SERVER=" + server.URL, "ROWLOCK_API_KEY=rk_test"}, seen
}

func TestSend(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(file, []byte("{ \"from\":\"file\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no data": {nil, `{"type":"a.b","data":{}}`},
		"inline":  {[]string{"--data", `{"n": 1.0}`, "--key", "k", "--subject", "s"}, `{"type":"a.b","subject":"s","key":"k","data":{"n": 1.0}}`},
		"file":    {[]string{"--data", "@" + file}, "{\"type\":\"a.b\",\"data\":{ \"from\":\"file\" }\n}"},
		"stdin":   {[]string{"--data", "-"}, `{"type":"a.b","data":[1,  2]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environ, bodies := gateway(t, http.StatusAccepted, `{"id":"evt_1","type":"a.b"}`)
			got := call(t, "[1,  2]", environ, append([]string{"send", "a.b"}, tt.args...)...)
			if got.code != exitOK || got.stdout != "evt_1 accepted\n" || got.stderr != "" {
				t.Fatalf("got %+v", got)
			}
			if body := <-bodies; body != tt.want {
				t.Errorf("sent %q, want %q", body, tt.want)
			}
		})
	}
}

func TestSendTellsOfARepeat(t *testing.T) {
	t.Parallel()
	environ, _ := gateway(t, http.StatusOK, `{"id":"evt_1","type":"a.b","duplicate":true}`)
	if got := call(t, "", environ, "send", "a.b", "--key", "k"); got.code != exitOK || !strings.HasPrefix(got.stdout, "evt_1 known already") {
		t.Errorf("got %+v", got)
	}
}

func TestSendFails(t *testing.T) {
	t.Parallel()
	environ, _ := gateway(t, http.StatusUnauthorized, `{"code":"unauthorized","detail":"The key is not known."}`)
	got := call(t, "", environ, "send", "a.b")
	want := "rowlock: the server answered 401: The key is not known (unauthorized)\nHint: Check ROWLOCK_API_KEY: the key is unknown to this server, or was revoked.\n"
	if got.code != exitFailure || got.stderr != want || got.stdout != "" {
		t.Errorf("got %+v, want exit code %d and %q", got, exitFailure, want)
	}
	got = call(t, "", environ, "send", "a.b", "--data", "@"+filepath.Join(t.TempDir(), "none"))
	if got.code != exitFailure || !strings.Contains(got.stderr, "\nHint: What follows @ is the path of a file.") {
		t.Errorf("a file that is not there: got %+v, want exit code %d and a hint", got, exitFailure)
	}
}

func TestHelpExplainsACommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve"}, {"migrate", "up"}, {}, {"help"}} {
		got := call(t, "", nil, append([]string{"help"}, args...)...)
		want := call(t, "", nil, append(args, "--help")...)
		if got.code != exitOK || got.stdout != want.stdout {
			t.Errorf("help %v: %+v", args, got)
		}
	}
}

// A database that does not answer is told once, with its address and without
// its password, by every command that needs one.
func TestDatabaseThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	environ := []string{
		"ROWLOCK_DATABASE_URL=postgres://nobody:hunter2@127.0.0.1:1/none?connect_timeout=2",
		"ROWLOCK_MASTER_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
	}
	for _, args := range [][]string{
		{"serve"},
		{"migrate", "up"},
		{"migrate", "status"},
		{"account", "create", "--name", "A", "--email", "a@example.com"},
		{"account", "reset-link", "--email", "a@example.com"},
		{"account", "two-step-off", "--email", "a@example.com"},
	} {
		got := call(t, "", environ, args...)
		if got.code != exitFailure || strings.Count(got.stderr, "127.0.0.1:1") != 1 || strings.Contains(got.stderr, "hunter2") ||
			!strings.Contains(got.stderr, "connection refused\nHint: Is PostgreSQL running there") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	got := call(t, "", nil, "receiver", "--listen", strings.TrimPrefix(server.URL, "http://"))
	if got.code != exitFailure || !strings.Contains(got.stderr, "address already in use\nHint: Another program") {
		t.Errorf("%+v", got)
	}
}

func TestReceiverRunsUntilStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	lines, stdout := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		p := program{args: []string{"receiver", "--listen", "127.0.0.1:0"}, stdin: strings.NewReader(""), stdout: stdout, stderr: io.Discard}
		ended <- run(ctx, p)
		_ = stdout.Close()
	}()
	first := make([]byte, len("receiver at http://127.0.0.1:"))
	if _, err := io.ReadFull(lines, first); err != nil || string(first) != "receiver at http://127.0.0.1:" {
		t.Errorf("it began with %q, %v", first, err)
	}
	stop()
	rest, err := io.ReadAll(lines)
	if err != nil || !strings.HasSuffix(string(rest), "requests 0: succeeded 0, failed 0, refused 0, abandoned 0\n") {
		t.Errorf("it ended with %q, %v", rest, err)
	}
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestReadPassword(t *testing.T) {
	t.Parallel()
	for stdin, want := range map[string]string{
		"correct horse":     "correct horse",
		"correct horse\n":   "correct horse",
		"correct horse\r\n": "correct horse",
		" spaces kept \n":   " spaces kept ",
		"two\nlines\n":      "two\nlines",
	} {
		if got, err := readPassword(strings.NewReader(stdin)); err != nil || got != want {
			t.Errorf("readPassword(%q) = %q, %v; want %q", stdin, got, err, want)
		}
	}
}

func TestFailureWithHint(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	code := report(&stderr, newVersion(), &hinted{errors.New("open door"), "Use the key."})
	if want := "rowlock: open door\nHint: Use the key.\n"; code != exitFailure || stderr.String() != want {
		t.Errorf("exit code %d, %q; want %q", code, stderr.String(), want)
	}
}
