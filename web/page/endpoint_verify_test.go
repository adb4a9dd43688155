package page_test

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
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

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
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

// signedCases are signed as deliveries are, now, with keys of one version, and
// then spoilt in one way each.
func signedCases(t *testing.T, version gateway.SignatureVersion) []signedCase {
	t.Helper()
	const id, body = "evt_06h1m3v9c8x7k2q5n4t6w8y0za", `{"type":"order.created","note":"é ♥"}`
	now := time.Now()
	key, olderKey, other := signature.NewSigningKey(version), signature.NewSigningKey(version), signature.NewSigningKey(version)
	// What a receiver has: the secret, or the public key.
	has := func(key signature.SigningKey) string { return cmp.Or(key.Public(), key.Secret()) }
	signed := func(at time.Time, body string, keys ...signature.SigningKey) map[string]string {
		return map[string]string{
			"webhook-id": id, "webhook-timestamp": strconv.FormatInt(at.Unix(), 10),
			"webhook-signature": signature.Sign(keys, id, at.Unix(), []byte(body)),
		}
	}
	with := func(name, value string) map[string]string {
		headers := signed(now, body, key)
		headers[name] = value
		return headers
	}
	fresh := signed(now, body, key)
	both := signature.Sign([]signature.SigningKey{signature.NewSigningKey(gateway.SignatureHMAC), signature.NewSigningKey(gateway.SignatureEd25519), key}, id, now.Unix(), []byte(body))
	secret := has(key)
	return []signedCase{
		{"as sent", secret, fresh, body, true},
		{"no body", secret, signed(now, "", key), "", true},
		{"the older secret", has(olderKey), signed(now, body, key, olderKey), body, true},
		{"beside others of both kinds", secret, with("webhook-signature", both), body, true},
		{"four minutes late", secret, signed(now.Add(-4*time.Minute), body, key), body, true},
		{"a version to come", secret, with("webhook-signature", "v9,x v1a,x v1,x "+fresh["webhook-signature"]), body, true},
		{"another version's name", secret, with("webhook-signature", "v2,"+strings.SplitN(fresh["webhook-signature"], ",", 2)[1]), body, false},
		{"another body", secret, fresh, body + " ", false},
		{"another secret", has(other), fresh, body, false},
		{"another id", secret, with("webhook-id", "evt_x"), body, false},
		{"another time", secret, with("webhook-timestamp", strconv.FormatInt(now.Unix()-1, 10)), body, false},
		{"long ago", secret, signed(now.Add(-6*time.Minute), body, key), body, false},
		{"in the future", secret, signed(now.Add(6*time.Minute), body, key), body, false},
		{"no time", secret, with("webhook-timestamp", ""), body, false},
		{"words for a time", secret, with("webhook-timestamp", "NaN"), body, false},
		{"a huge time", secret, with("webhook-timestamp", strings.Repeat("9", 5000)), body, false},
		{"no signature", secret, with("webhook-signature", ""), body, false},
		{"part of a signature", secret, with("webhook-signature", string(version)+","), body, false},
		{"a shorter signature", secret, with("webhook-signature", fresh["webhook-signature"][:40]), body, false},
		{"not base64", secret, with("webhook-signature", "v1a,é♥ v1,é♥ v1 v1a ,,"), body, false},
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

// verify tells whether a request came from Rowlock.
// It needs the body as it came, and the endpoint's public key.
func verifyKeyPair(public string, h http.Header, body []byte) bool {
	id, at := h.Get("webhook-id"), h.Get("webhook-timestamp")
	unix, err := strconv.ParseInt(at, 10, 64)
	if err != nil || time.Since(time.Unix(unix, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(public, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	signed := slices.Concat([]byte(id+"."+at+"."), body)
	return slices.ContainsFunc(strings.Fields(h.Get("webhook-signature")), func(text string) bool {
		text, isKeyPair := strings.CutPrefix(text, "v1a,")
		got, err := base64.StdEncoding.DecodeString(text)
		return isKeyPair && err == nil && ed25519.Verify(key, signed, got)
	})
}

// The functions above are those that the page shows, but for the second one's
// name.
func TestGoExamplesVerify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version gateway.SignatureVersion
		file    string
		name    string
		verify  func(string, http.Header, []byte) bool
	}{
		{gateway.SignatureHMAC, "plain.go.txt", "verify", verify},
		{gateway.SignatureEd25519, "key_pair.go.txt", "verifyKeyPair", verifyKeyPair},
	} {
		shown := strings.Replace(readExample(t, c.file), "func verify(", "func "+c.name+"(", 1)
		if !strings.Contains(readFile(t, "endpoint_verify_test.go"), "\n\n"+shown+"\n") {
			t.Errorf("%s is another function than the one that is tried here", c.file)
		}
		for _, sent := range signedCases(t, c.version) {
			h := http.Header{}
			for name, value := range sent.Headers {
				h.Set(name, value)
			}
			if got := c.verify(sent.Secret, h, []byte(sent.Body)); got != sent.Ours {
				t.Errorf("%s, %s: %v", c.version, sent.Name, got)
			}
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
	runExample(t, gateway.SignatureHMAC, "node", nodeHarness, "plain.mjs", "--input-type=module", "-e")
	runExample(t, gateway.SignatureEd25519, "node", nodeHarness, "key_pair.mjs", "--input-type=module", "-e")
}

func TestPythonExampleVerifies(t *testing.T) {
	t.Parallel()
	runExample(t, gateway.SignatureHMAC, "python3", pythonHarness, "plain.py", "-c")
	// What it needs beside the language is there or not, as the language is.
	if exec.CommandContext(t.Context(), "python3", "-c", "import cryptography").Run() == nil {
		runExample(t, gateway.SignatureEd25519, "python3", pythonHarness, "key_pair.py", "-c")
	}
}

// runExample tries an example with its own interpreter. Where there is none,
// what it needs to hold is looked for.
func runExample(t *testing.T, version gateway.SignatureVersion, program, harness, name string, args ...string) {
	t.Helper()
	shown := readExample(t, name)
	needs := map[gateway.SignatureVersion][]string{
		gateway.SignatureHMAC: {"sha256", "whsec_", "v1,"}, gateway.SignatureEd25519: {"Ed25519", "whpk_", "v1a,"},
	}
	for _, part := range append(needs[version], "webhook-id", "webhook-timestamp", "webhook-signature", "300") {
		if !strings.Contains(shown, part) {
			t.Errorf("%s does not look at %s", name, part)
		}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Logf("%s is not run: %v", name, err)
		return
	}
	cases := signedCases(t, version)
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
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every example is on the page of an endpoint that signs so, whole, and can be
// copied.
func TestEndpointPageShowsTheExamples(t *testing.T) {
	t.Parallel()
	for version, names := range map[gateway.SignatureVersion][]string{
		gateway.SignatureHMAC:    {"library.go.txt", "plain.go.txt", "library.mjs", "plain.mjs", "library.py", "plain.py"},
		gateway.SignatureEd25519: {"key_pair.go.txt", "key_pair.mjs", "key_pair.py"},
	} {
		v := endpointView()
		v.Endpoint.Signature = version
		doc := drawn(t, page.EndpointPage(v))
		wantNumber(t, doc, `#verify [role="tab"]`, 3)
		wantNumber(t, doc, `#verify [role="tabpanel"]`, 3)
		var copied []string
		for _, n := range doc.Find("#verify [data-copy]").EachIter() {
			copied = append(copied, strings.TrimSpace(n.AttrOr("data-copy", "")))
		}
		for _, name := range names {
			if text := readExample(t, name); !slices.Contains(copied, text) {
				t.Errorf("%s cannot be copied", name)
			}
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
