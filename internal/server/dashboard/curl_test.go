package dashboard

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// A shell takes the command for exactly the words that are meant, whatever
// came from outside.
func TestCommandIsWhatAShellReads(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"a":"it's"}`, `$(touch /tmp/x) ${HOME} ` + "`id`" + ` \ " !`, "two\nlines\twith a tab", "@/etc/passwd", "'; rm -rf /; '", "",
	} {
		s := sending{address: `https://example.com/a'b?c=$d`, body: []byte(body), file: "evt_1.json"}
		command := s.command([]component.Header{{Name: "X-Quote", Value: "it's $HOME"}})
		// printf stands in for curl and writes each word on a line of its own.
		out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "curl", `printf '%s\0'`, 1)).Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		want := strings.Join([]string{"-X", "POST", s.address, "-H", "X-Quote: it's $HOME", "--data-raw", body, ""}, "\x00")
		if string(out) != want {
			t.Errorf("%s\nis read as %q, want %q", command, out, want)
		}
	}
}

// What a terminal would act on is never part of a command.
func TestCommandHidesNothing(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"escape": "\x1b[201~rm -rf /\n", "nul": "a\x00b", "carriage return": "safe\rrm", "not UTF-8": "\xff", "bidi": "\u202e",
		"large": strings.Repeat("x", inlineBody+1),
	} {
		s := sending{address: "https://example.com", body: []byte(body), file: "evt_1.bin"}
		got := s.command([]component.Header{{Name: "X-A", Value: body}})
		if !strings.HasSuffix(got, "--data-binary '@evt_1.bin'") || name != "large" && strings.Contains(got, "X-A") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestCommandHasNoSecret(t *testing.T) {
	t.Parallel()
	got := sending{address: "https://example.com"}.command([]component.Header{
		{Name: "Authorization", Value: "Bearer x"},
		{Name: "Cookie", Value: "a=b"},
		{Name: "X-Token", Value: gateway.Redacted},
		{Name: "Host", Value: "inside"},
		{Name: "Content-Length", Value: "3"},
		{Name: "Content-Type", Value: "text/plain"},
	})
	if want := "curl -X POST 'https://example.com' \\\n  -H 'Content-Type: text/plain' \\\n  --data-raw ''"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if (sending{gone: true}).again(nil) != "" {
		t.Error("there is a command for what is gone")
	}
}
