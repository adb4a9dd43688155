package page_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/web/page"
)

// signedCase is a request that a receiver gets, and whether it is ours.
type signedCase struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Ours    bool              `json:"ours"`
}

// signedCases are signed as deliveries are, now, and then spoilt in one way
// each.
func signedCases(t *testing.T) []signedCase {
	t.Helper()
	const id, body = "evt_06h1m3v9c8x7k2q5n4t6w8y0za", `{"type":"order.created","note":"é ♥"}`
	secret, older := signature.NewSecret(), signature.NewSecret()
	signed := func(at time.Time, body string, secrets ...string) map[string]string {
		var keys [][]byte
		for _, s := range secrets {
			key, err := signature.ParseSecret(s)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		return map[string]string{
			"webhook-id": id, "webhook-timestamp": strconv.FormatInt(at.Unix(), 10),
			"webhook-signature": signature.Sign(keys, id, at.Unix(), []byte(body)),
		}
	}
	with := func(name, value string) map[string]string {
		headers := signed(time.Now(), body, secret)
		headers[name] = value
		return headers
	}
	now := time.Now()
	return []signedCase{
		{"as sent", secret, signed(now, body, secret), body, true},
		{"no body", secret, signed(now, "", secret), "", true},
		{"the older secret", older, signed(now, body, secret, older), body, true},
		{"four minutes late", secret, signed(now.Add(-4*time.Minute), body, secret), body, true},
		{"a version to come", secret, with("webhook-signature", "v9,x v1a,x "+signed(now, body, secret)["webhook-signature"]), body, true},
		{"another body", secret, signed(now, body, secret), body + " ", false},
		{"another secret", signature.NewSecret(), signed(now, body, secret), body, false},
		{"another id", secret, with("webhook-id", "evt_x"), body, false},
		{"another time", secret, with("webhook-timestamp", strconv.FormatInt(now.Unix()-1, 10)), body, false},
		{"long ago", secret, signed(now.Add(-6*time.Minute), body, secret), body, false},
		{"in the future", secret, signed(now.Add(6*time.Minute), body, secret), body, false},
		{"no time", secret, with("webhook-timestamp", ""), body, false},
		{"words for a time", secret, with("webhook-timestamp", "NaN"), body, false},
		{"a huge time", secret, with("webhook-timestamp", strings.Repeat("9", 5000)), body, false},
		{"no signature", secret, with("webhook-signature", ""), body, false},
		{"part of a signature", secret, with("webhook-signature", "v1,"), body, false},
		{"not base64", secret, with("webhook-signature", "v1,é♥ v1 ,,"), body, false},
		{"no headers", secret, map[string]string{}, body, false},
		{"no secret", "", signedWithNothing(id, now, body), body, false},
	}
}

// signedWithNothing is what somebody can sign who knows that the secret was
// left empty.
func signedWithNothing(id string, at time.Time, body string) map[string]string {
	unix := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, nil)
	mac.Write([]byte(id + "." + unix + "." + body))
	return map[string]string{
		"webhook-id": id, "webhook-timestamp": unix,
		"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	}
}

// verify tells whether a request came from Rowlock.
// It needs the body as it came, and the endpoint's secret.
func verify(secret string, h http.Header, body []byte) bool {
	id, at := h.Get("webhook-id"), h.Get("webhook-timestamp")
	unix, err := strconv.ParseInt(at, 10, 64)
	if err != nil || time.Since(time.Unix(unix, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return slices.ContainsFunc(strings.Fields(h.Get("webhook-signature")), func(got string) bool {
		return hmac.Equal([]byte(got), []byte(want))
	})
}

// The function above is the one that the page shows.
func TestGoExampleVerifies(t *testing.T) {
	t.Parallel()
	shown := readExample(t, "plain.go.txt")
	source := readFile(t, "endpoint_verify_test.go")
	if !strings.Contains(source, "\n\n"+shown+"\n") {
		t.Error("the page shows another function than the one that is tried here")
	}
	for _, c := range signedCases(t) {
		h := http.Header{}
		for name, value := range c.Headers {
			h.Set(name, value)
		}
		if got := verify(c.Secret, h, []byte(c.Body)); got != c.Ours {
			t.Errorf("%s: %v", c.Name, got)
		}
	}
}

// The harnesses read the cases, and write what each was found to be.
const (
	nodeHarness = `
import fs from "node:fs";
const cases = JSON.parse(fs.readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map((c) => verify(c.secret, c.headers, Buffer.from(c.body)))));
`
	pythonHarness = `
import json, sys
cases = json.load(sys.stdin.buffer)
print(json.dumps([verify(c["secret"], c["headers"], c["body"].encode()) for c in cases]))
`
)

func TestNodeExampleVerifies(t *testing.T) {
	t.Parallel()
	runExample(t, "node", nodeHarness, "plain.mjs", "--input-type=module", "-e")
}

func TestPythonExampleVerifies(t *testing.T) {
	t.Parallel()
	runExample(t, "python3", pythonHarness, "plain.py", "-c")
}

// runExample tries an example with its own interpreter. Where there is none,
// what it needs to hold is looked for.
func runExample(t *testing.T, program, harness, name string, args ...string) {
	t.Helper()
	shown := readExample(t, name)
	for _, part := range []string{"webhook-id", "webhook-timestamp", "webhook-signature", "sha256", "whsec_", "v1,", "300"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%s does not look at %s", name, part)
		}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Logf("%s is not run: %v", name, err)
		return
	}
	cases := signedCases(t)
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), path, append(args, shown+harness)...)
	var told bytes.Buffer
	run.Stdin, run.Stderr = bytes.NewReader(input), &told
	output, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, told.String())
	}
	var found []bool
	if err := json.Unmarshal(output, &found); err != nil {
		t.Fatalf("%s says %q: %v", name, output, err)
	}
	got, want := map[string]bool{}, map[string]bool{}
	for i, c := range cases {
		got[c.Name], want[c.Name] = found[i], c.Ours
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every example is on the page, whole, and can be copied.
func TestEndpointPageShowsTheExamples(t *testing.T) {
	t.Parallel()
	doc := drawn(t, page.EndpointPage(endpointView()))
	wantNumber(t, doc, `#verify [role="tab"]`, 3)
	wantNumber(t, doc, `#verify [role="tabpanel"]`, 3)
	var copied []string
	for _, n := range doc.Find("#verify [data-copy]").Nodes {
		for _, a := range n.Attr {
			if a.Key == "data-copy" {
				copied = append(copied, strings.TrimSpace(a.Val))
			}
		}
	}
	for _, name := range []string{"library.go.txt", "plain.go.txt", "library.mjs", "plain.mjs", "library.py", "plain.py"} {
		if text := readExample(t, name); len(copied) != 9 || !strings.Contains(strings.Join(copied, "\x00"), text) {
			t.Errorf("%s cannot be copied", name)
		}
	}
}

func readExample(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(readFile(t, "verify/"+name))
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
