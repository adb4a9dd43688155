package docs_test

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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/web/docs"
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
	ours, err := os.ReadFile("verify_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		version gateway.SignatureVersion
		file    string
		name    string
		verify  func(string, http.Header, []byte) bool
	}{
		{gateway.SignatureHMAC, "verify.go", "verify", verify},
		{gateway.SignatureEd25519, "verify_key.go", "verifyKeyPair", verifyKeyPair},
	} {
		shown := strings.Replace(docs.Example("verifying", c.file).Text, "func verify(", "func "+c.name+"(", 1)
		if !strings.Contains(string(ours), "\n\n"+shown+"\n") {
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

// verifier is an example in another language: the cases come on standard input,
// and for each it says true or false, in one list.
type verifier struct {
	version gateway.SignatureVersion
	file    string
	// program runs it, and ready is what has to go well with it first; empty for
	// nothing.
	program, ready string
	// run is what it is started with, around the file's code.
	run func(t *testing.T, code string) []string
}

// inline is code that is given on the command line, with what tries it behind.
func inline(flags []string, harness string) func(*testing.T, string) []string {
	return func(_ *testing.T, code string) []string { return append(slices.Clone(flags), code+harness) }
}

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
	phpHarness = `
$cases = json_decode(stream_get_contents(STDIN), true);
echo json_encode(array_map(fn($c) => verify($c["secret"], $c["headers"], $c["body"]), $cases));
`
	rubyHarness = `
require "json"
cases = JSON.parse(STDIN.read)
puts JSON.generate(cases.map { |c| verify(c["secret"], c["headers"], c["body"]) })
`
	// javaHarness reads lines: Java's library has no JSON.
	javaHarness = `
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

final class Harness {
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    List<Boolean> found = new ArrayList<>();
    for (String line; (line = in.readLine()) != null; ) {
      String[] parts = line.split("\t", -1);
      Map<String, String> headers = new HashMap<>();
      for (int i = 2; i + 1 < parts.length; i += 2) headers.put(parts[i], text(parts[i + 1]));
      found.add(CLASS.verify(text(parts[0]), headers, text(parts[1]).getBytes(StandardCharsets.UTF_8)));
    }
    System.out.println(found);
  }

  static String text(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }
}
`
)

// compileJava writes the example and what tries it, and compiles both.
func compileJava(class string) func(*testing.T, string) []string {
	return func(t *testing.T, code string) []string {
		t.Helper()
		dir := t.TempDir()
		for name, text := range map[string]string{class: code, "Harness": strings.ReplaceAll(javaHarness, "CLASS", class)} {
			if err := os.WriteFile(filepath.Join(dir, name+".java"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "javac", "-d", dir, filepath.Join(dir, class+".java"), filepath.Join(dir, "Harness.java"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("compile %s: %v: %s", class, err, out)
		}
		return []string{"-cp", dir, "Harness"}
	}
}

var verifiers = []verifier{
	{gateway.SignatureHMAC, "verify.mjs", "node", "--version", inline([]string{"--input-type=module", "-e"}, nodeHarness)},
	{gateway.SignatureEd25519, "verify_key.mjs", "node", "--version", inline([]string{"--input-type=module", "-e"}, nodeHarness)},
	{gateway.SignatureHMAC, "verify.py", "python3", "--version", inline([]string{"-c"}, pythonHarness)},
	{gateway.SignatureEd25519, "verify_key.py", "python3", "-c import cryptography", inline([]string{"-c"}, pythonHarness)},
	{gateway.SignatureHMAC, "verify.php", "php", "--version", runPHP},
	{gateway.SignatureEd25519, "verify_key.php", "php", "--re sodium", runPHP},
	{gateway.SignatureHMAC, "verify.rb", "ruby", "--version", inline([]string{"-e"}, rubyHarness)},
	{gateway.SignatureEd25519, "verify_key.rb", "ruby", "--version", inline([]string{"-e"}, rubyHarness)},
	{gateway.SignatureHMAC, "Verify.java", "java", "--version", compileJava("Verify")},
	{gateway.SignatureEd25519, "VerifyKey.java", "java", "--version", compileJava("VerifyKey")},
}

// runPHP gives the code without its first line, which the command line has not.
func runPHP(_ *testing.T, code string) []string {
	return []string{"-r", strings.TrimPrefix(code, "<?php\n") + phpHarness}
}

// The code that the page shows, each with its own interpreter where the machine
// has it, against what Rowlock's own signer signs and what is wrong with it.
func TestExamplesVerify(t *testing.T) {
	t.Parallel()
	for _, v := range verifiers {
		t.Run(v.file, func(t *testing.T) {
			t.Parallel()
			code := docs.Example("verifying", v.file).Text
			v.wantNames(t, code)
			flag, rest, more := strings.Cut(v.ready, " ")
			ready := []string{flag}
			if more {
				ready = append(ready, rest)
			}
			if err := exec.CommandContext(t.Context(), v.program, ready...).Run(); err != nil {
				t.Skipf("%s is not run: %s %s: %v", v.file, v.program, v.ready, err)
			}
			cases := signedCases(t, v.version)
			got, want := map[string]bool{}, map[string]bool{}
			for i, ours := range v.try(t, code, cases) {
				got[cases[i].Name], want[cases[i].Name] = ours, cases[i].Ours
			}
			if diff := gocmp.Diff(want, got); diff != "" || len(got) != len(cases) {
				t.Errorf("%d of %d cases: %s", len(got), len(cases), diff)
			}
		})
	}
}

// wantNames looks for what code of this version has to look at, also where it
// cannot be run.
func (v verifier) wantNames(t *testing.T, code string) {
	t.Helper()
	needs := map[gateway.SignatureVersion][]string{
		gateway.SignatureHMAC: {"whsec_", "v1,"}, gateway.SignatureEd25519: {"whpk_", "v1a,"},
	}
	for _, part := range append(needs[v.version], "webhook-id", "webhook-timestamp", "webhook-signature", "300") {
		if !strings.Contains(code, part) {
			t.Errorf("%s does not look at %s", v.file, part)
		}
	}
}

// try runs the code, and returns what it says of each case.
func (v verifier) try(t *testing.T, code string, cases []signedCase) (found []bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), v.program, v.run(t, code)...)
	var told bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(v.input(t, cases)), &told
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", v.file, err, told.String())
	}
	if err := json.Unmarshal(output, &found); err != nil {
		t.Fatalf("%s says %q: %v", v.file, output, err)
	}
	return found
}

func (v verifier) input(t *testing.T, cases []signedCase) []byte {
	t.Helper()
	if v.program != "java" {
		input, err := json.Marshal(cases)
		if err != nil {
			t.Fatal(err)
		}
		return input
	}
	packed := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	var lines bytes.Buffer
	for _, c := range cases {
		lines.WriteString(packed(c.Secret) + "\t" + packed(c.Body))
		for name, value := range c.Headers {
			lines.WriteString("\t" + name + "\t" + packed(value))
		}
		lines.WriteByte('\n')
	}
	return lines.Bytes()
}
