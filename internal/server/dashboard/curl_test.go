package dashboard

import (
	"net/url"
	"os/exec"
	"slices"
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
		words := shellWords(t, command)
		want := []string{"-X", "POST", s.address, "-H", "X-Quote: it's $HOME", "-H", "Content-Type:", "--data-raw", body}
		if !slices.Equal(words, want) {
			t.Errorf("%s\nis read as %q, want %q", command, words, want)
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
		{Name: "Authorization", Value: gateway.Redacted},
		{Name: "Cookie", Value: "a=b"},
		{Name: "X-Token", Value: gateway.Redacted},
		{Name: "Host", Value: "inside"},
		{Name: "Content-Length", Value: "3"},
		{Name: "Content-Type", Value: "text/plain"},
	})
	want := "curl -X POST 'https://example.com' \\\n  -H 'Authorization: [redacted]' \\\n  -H 'X-Token: [redacted]' \\\n" +
		"  -H 'Content-Type: text/plain' \\\n  --data-raw ''"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if (sending{gone: true}).again(nil) != "" || (sending{gone: true}).unsigned(nil) != "" {
		t.Error("there is a command for what is gone")
	}
}

// A signature that is too old by now is not sent again.
func TestCommandUnsigned(t *testing.T) {
	t.Parallel()
	got := sending{address: "https://example.com"}.unsigned([]byte("Content-Type: a/b\r\nWebhook-Id: evt_1\r\nWebhook-Signature: v1,x\r\nWebhook-Timestamp: 7\r\n"))
	if want := "curl -X POST 'https://example.com' \\\n  -H 'Content-Type: a/b' \\\n  -H 'Webhook-Id: evt_1' \\\n  --data-raw ''"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// curl sends to the address as it is written.
func TestCommandTakesAddressesLiterally(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://h/a":             "curl -X POST 'https://h/a' ",
		"https://[2001:db8::1]/a": "curl -X POST --globoff 'https://[2001:db8::1]/a' ",
		"https://h/{a,b}":         "curl -X POST --globoff 'https://h/{a,b}' ",
		"https://h/../a?x[]=1":    "curl -X POST --globoff --path-as-is 'https://h/../a?x[]=1' ",
	} {
		if got := (sending{address: address}).command(nil); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s…", got, want)
		}
	}
}

// Whatever stands in a body, a header or an address, a shell reads just that,
// or does not get to see it.
func FuzzCommandIsWhatAShellReads(f *testing.F) {
	for _, seed := range []string{`it's`, "'\\''", "$(id)`id`", "a\nb", "\x00", "\x1b[201~", "@/etc/passwd", `"'"'`, "-d x", "\u202e", "\xff"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, body, value string) {
		s := sending{address: "https://example.com/" + url.PathEscape(value) + "'", body: []byte(body), file: "evt_1.json"}
		header := component.Header{Name: "X-A", Value: value}
		words := shellWords(t, s.command([]component.Header{header}))
		want := []string{"-X", "POST", s.address}
		if strings.Contains(s.address, "/.") {
			want = []string{"-X", "POST", "--path-as-is", s.address}
		}
		if sendable(header) {
			want = append(want, "-H", "X-A: "+value)
		}
		want = append(want, "-H", "Content-Type:")
		if s.inline() {
			want = append(want, "--data-raw", body)
		} else {
			want = append(want, "--data-binary", "@evt_1.json")
		}
		if !slices.Equal(words, want) {
			t.Errorf("read as %q, want %q", words, want)
		}
	})
}

// shellWords are the words that a shell gives to curl.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	// printf stands in for curl and ends each word with a zero byte.
	out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "curl", `printf '%s\0'`, 1)).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	words := strings.Split(string(out), "\x00")
	return words[:len(words)-1]
}
