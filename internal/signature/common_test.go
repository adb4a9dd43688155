package signature

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"net/http"
	"strings"
	"testing"
	"time"
)

// testNow is the clock of the common cases.
var testNow = time.Unix(1_760_000_000, 0)

// sender is a scheme seen from the other side: it signs as the provider's
// documentation says, with nothing of the package's own.
type sender struct {
	name     string
	kind     string
	settings string
	header   string // holds the signature
	timed    bool   // a time is signed
	secret   string
	private  string // what signs, if it is not the secret
	other    string // another secret of the same form
	foreign  string // what signs for other
	sign     func(r *Request, secret string)
}

func (s sender) scheme() Scheme {
	scheme, _ := Lookup(s.kind)
	return scheme
}

func (s sender) verify(r Request, secrets ...string) (Verified, error) {
	return s.scheme().Verify(r, Settings{Raw: json.RawMessage(s.settings)}, liveSecrets(secrets...))
}

// signed is a request over the body, signed now.
func (s sender) signed(body string) Request {
	r := Request{Method: http.MethodPost, URL: "https://hooks.example.com/ingest/abc", Header: http.Header{}, Body: []byte(body), Now: testNow}
	s.signWith(&r, s.secret, s.private)
	return r
}

func (s sender) signWith(r *Request, secret, private string) {
	if private != "" {
		secret = private
	}
	s.sign(r, secret)
}

const (
	keyA = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	keyB = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

var (
	ed25519A = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	ed25519B = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))
)

// senders are all schemes with secrets, and the kind hmac in each of its ways.
func senders() []sender {
	list := []sender{
		{name: "github", kind: "github", header: "X-Hub-Signature-256", secret: "secret-a", other: "secret-b", sign: signGitHub},
		{name: "stripe", kind: "stripe", header: "Stripe-Signature", timed: true, secret: "whsec_a", other: "whsec_b", sign: signStripe},
		{name: "standard_webhooks v1", kind: "standard_webhooks", header: "Webhook-Signature", timed: true, secret: keyA, other: keyB, sign: signV1},
		{
			name: "standard_webhooks v1a", kind: "standard_webhooks", header: "Webhook-Signature", timed: true,
			secret: publicOf(ed25519A), private: string(ed25519A), other: publicOf(ed25519B), foreign: string(ed25519B), sign: signV1a,
		},
	}
	return append(list, hmacSenders()...)
}

func hmacSenders() []sender {
	return []sender{
		{
			name: "hmac defaults", kind: "hmac", header: "X-Sig", secret: "a", other: "b", settings: `{"header":"X-Sig"}`,
			sign: func(r *Request, secret string) {
				r.Header.Set("X-Sig", hex.EncodeToString(plainMAC(sha256.New, secret, string(r.Body))))
			},
		},
		{
			name: "hmac sha1 base64", kind: "hmac", header: "X-Sig", secret: "a", other: "b", settings: `{"header":"x-sig","algorithm":"sha1","encoding":"base64","prefix":"sha1="}`,
			sign: func(r *Request, secret string) {
				r.Header.Set("X-Sig", "sha1="+b64(plainMAC(sha1.New, secret, string(r.Body))))
			},
		},
		{
			name: "hmac sha512 everything", kind: "hmac", header: "X-Sig", timed: true, secret: "a", other: "b",
			settings: `{"header":"X-Sig","algorithm":"sha512","signed":"v0:{timestamp}:{id}:{url}:{body}!","timestamp_header":"X-Time","id_header":"X-Id","type_header":"X-Type"}`,
			sign: func(r *Request, secret string) {
				at := unixText(r.Now)
				text := "v0:" + at + ":id-1:" + r.URL + ":" + string(r.Body) + "!"
				r.Header.Set("X-Time", at)
				r.Header.Set("X-Id", "id-1")
				r.Header.Set("X-Sig", hex.EncodeToString(plainMAC(sha512.New, secret, text)))
			},
		},
	}
}

func signGitHub(r *Request, secret string) {
	r.Header.Set("X-GitHub-Delivery", "guid-1")
	r.Header.Set("X-GitHub-Event", "push")
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(plainMAC(sha256.New, secret, string(r.Body))))
}

func signStripe(r *Request, secret string) {
	at := unixText(r.Now)
	r.Header.Set("Stripe-Signature", "t="+at+",v1="+hex.EncodeToString(plainMAC(sha256.New, secret, at+"."+string(r.Body))))
}

func signV1(r *Request, secret string) {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	text := webhookHeaders(r) + string(r.Body)
	r.Header.Set("webhook-signature", "v1,"+b64(plainMAC(sha256.New, string(key), text)))
}

func signV1a(r *Request, private string) {
	text := webhookHeaders(r) + string(r.Body)
	r.Header.Set("webhook-signature", "v1a,"+b64(ed25519.Sign(ed25519.PrivateKey(private), []byte(text))))
}

// webhookHeaders sets id and time and returns what of them is signed.
func webhookHeaders(r *Request) string {
	r.Header.Set("webhook-id", "msg_1")
	r.Header.Set("webhook-timestamp", unixText(r.Now))
	return "msg_1." + unixText(r.Now) + "."
}

func plainMAC(newHash func() hash.Hash, key, text string) []byte {
	mac := hmac.New(newHash, []byte(key))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func unixText(t time.Time) string {
	text, _ := json.Marshal(t.Unix())
	return string(text)
}

// TestCommonAccepts is what every scheme must take.
func TestCommonAccepts(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"json": `{"id":"evt_1","type":"order.created"}`, "empty": "", "trailing newline": "{}\n", "nul and bad utf-8": "\x00\xff\xfe",
		"form": "payload=%7B%7D&x=1+2", "gzip": gzipped(`{"id":"evt_1"}`), "bom": "\ufeff{}", "large": strings.Repeat("a", 1<<20),
	}
	for _, s := range senders() {
		for name, body := range bodies {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				verified, err := s.verify(s.signed(body), s.secret)
				if err != nil {
					t.Fatal(err)
				}
				if verified.Secret != secretID(0) || len(verified.Events) != 1 || verified.Skew != 0 {
					t.Errorf("got %+v", verified)
				}
			})
		}
	}
}

// TestCommonRefusals is what every scheme must refuse, and why.
func TestCommonRefusals(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(s sender, r *Request)
		code   string
	}{
		"one byte altered":   {func(_ sender, r *Request) { r.Body[3] ^= 1 }, CodeMismatch},
		"newline added":      {func(_ sender, r *Request) { r.Body = append(r.Body, '\n') }, CodeMismatch},
		"body removed":       {func(_ sender, r *Request) { r.Body = nil }, CodeMismatch},
		"compressed later":   {func(_ sender, r *Request) { r.Body = []byte(gzipped(string(r.Body))) }, CodeMismatch},
		"signed by another":  {func(s sender, r *Request) { s.signWith(r, s.other, s.foreign) }, CodeMismatch},
		"header missing":     {func(s sender, r *Request) { r.Header.Del(s.header) }, CodeMissing},
		"header empty":       {func(s sender, r *Request) { r.Header.Set(s.header, "") }, CodeMissing},
		"header repeated":    {func(s sender, r *Request) { r.Header.Add(s.header, r.Header.Get(s.header)) }, CodeMalformed},
		"header contradicts": {func(s sender, r *Request) { r.Header.Add(s.header, "v1,AAAA") }, CodeMalformed},
		"not ascii":          {func(s sender, r *Request) { r.Header.Set(s.header, "podpis é") }, CodeMalformed},
		"not utf-8":          {func(s sender, r *Request) { r.Header.Set(s.header, "\xff\xfe\x00") }, CodeMalformed},
		"garbage":            {func(s sender, r *Request) { r.Header.Set(s.header, ";;;") }, CodeMalformed},
		"too short":          {func(s sender, r *Request) { cut := r.Header.Get(s.header); r.Header.Set(s.header, cut[:len(cut)-2]) }, CodeMalformed},
		"too long":           {func(s sender, r *Request) { r.Header.Set(s.header, r.Header.Get(s.header)+"00") }, CodeMalformed},
		"huge":               {func(s sender, r *Request) { r.Header.Set(s.header, strings.Repeat("v1,A ", 1<<16)) }, CodeMalformed},
	}
	for _, s := range senders() {
		for name, c := range cases {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := s.signed(`{"id":"evt_1","type":"order.created"}`)
				c.change(s, &r)
				_, err := s.verify(r, s.secret)
				_ = wantRefusal(t, err, c.code, s.secret)
			})
		}
	}
}

// TestCommonSecrets is how every scheme treats the secrets it is given.
func TestCommonSecrets(t *testing.T) {
	t.Parallel()
	for _, s := range senders() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := s.signed(`{}`)
			for i, secrets := range [][]string{{s.secret}, {s.other, s.secret}, {"", "\n", s.other, s.secret}} {
				verified, err := s.verify(r, secrets...)
				if err != nil || verified.Secret != secretID(len(secrets)-1) {
					t.Errorf("rotation %d: matched %v, error %v", i, verified.Secret, err)
				}
			}
			for _, secrets := range [][]string{nil, {""}, {s.other}, {"", s.other}, {"whpk_AA", "whsec_AA", "whsk_AA"}} {
				_, err := s.verify(r, secrets...)
				_ = wantRefusal(t, err, CodeMismatch, secrets...)
			}
		})
	}
}

// TestEmptySecretNeverVerifies signs with the empty key, which HMAC allows.
func TestEmptySecretNeverVerifies(t *testing.T) {
	t.Parallel()
	for _, s := range senders() {
		if s.private != "" {
			continue // there is no empty private key
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := s.signed(`{}`)
			s.signWith(&r, "", "")
			_, err := s.verify(r, "")
			_ = wantRefusal(t, err, CodeMismatch)
			if _, err := s.scheme().CheckSecret(" \n"); err == nil {
				t.Error("an empty secret can be saved")
			}
		})
	}
}

// TestCommonTimes is how every scheme that signs a time judges it.
func TestCommonTimes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		skew      time.Duration
		tolerance time.Duration
		accepted  bool
	}{
		"now":                    {0, 0, true},
		"a little old":           {3 * time.Second, 0, true},
		"a little ahead":         {-3 * time.Second, 0, true},
		"oldest by default":      {5 * time.Minute, 0, true},
		"furthest by default":    {-5 * time.Minute, 0, true},
		"too old by default":     {5*time.Minute + time.Second, 0, false},
		"too far by default":     {-5*time.Minute - time.Second, 0, false},
		"oldest of a tolerance":  {time.Hour, time.Hour, true},
		"too old of a tolerance": {time.Hour + 1, time.Hour, false},
		"too far of a tolerance": {-11 * time.Second, 10 * time.Second, false},
		"years old":              {1_700_000_000 * time.Second, 0, false},
	}
	for _, s := range senders() {
		for name, c := range cases {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := s.signed(`{}`)
				r.Now = r.Now.Add(c.skew)
				verified, err := s.scheme().Verify(r, Settings{Tolerance: c.tolerance, Raw: json.RawMessage(s.settings)}, liveSecrets(s.secret))
				switch {
				case !s.timed:
					if err != nil || verified.Skew != 0 {
						t.Errorf("no time is signed, but: %+v, %v", verified, err)
					}
				case c.accepted:
					if err != nil || verified.Skew != c.skew {
						t.Errorf("skew %v, error %v; want skew %v", verified.Skew, err, c.skew)
					}
				default:
					if refusal := wantRefusal(t, err, CodeTimestamp, s.secret); refusal.Skew != c.skew {
						t.Errorf("skew is %v, want %v", refusal.Skew, c.skew)
					}
				}
			})
		}
	}
}

// TestTimeIsJudgedLast: an old request with a wrong signature is a wrong
// signature. Its time is not the sender's.
func TestTimeIsJudgedLast(t *testing.T) {
	t.Parallel()
	for _, s := range senders() {
		r := s.signed(`{}`)
		r.Now = r.Now.Add(24 * time.Hour)
		r.Body = []byte(`[]`)
		_, err := s.verify(r, s.secret)
		_ = wantRefusal(t, err, CodeMismatch, s.secret)
	}
}

// TestHeaderNamesInAnyCase sends every header in lower case through the
// server's own way of reading names.
func TestHeaderNamesInAnyCase(t *testing.T) {
	t.Parallel()
	for _, s := range senders() {
		r := s.signed(`{}`)
		for _, spell := range []func(string) string{strings.ToLower, strings.ToUpper} {
			again := r
			again.Header = http.Header{}
			for name, values := range r.Header {
				again.Header.Add(spell(name), values[0])
			}
			if _, err := s.verify(again, s.secret); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
	}
}

// TestVerifyLeavesTheRequestAlone: the bytes are stored after they are judged.
func TestVerifyLeavesTheRequestAlone(t *testing.T) {
	t.Parallel()
	for _, s := range senders() {
		r := s.signed(`{"id":"evt_1"}`)
		before, headers := bytes.Clone(r.Body), r.Header.Clone()
		if _, err := s.verify(r, s.other, s.secret); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if !bytes.Equal(before, r.Body) || len(headers) != len(r.Header) {
			t.Errorf("%s changed the request", s.name)
		}
	}
}

// wantRefusal fails unless err is a refusal with the code that keeps the
// secrets to itself.
func wantRefusal(t *testing.T, err error, code string, secrets ...string) *Refusal {
	t.Helper()
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v, want a refusal with %s", err, code)
	}
	if refusal.Code != code {
		t.Fatalf("code is %s, want %s (%s)", refusal.Code, code, refusal.Detail)
	}
	for _, secret := range secrets {
		if len(secret) > 2 && strings.Contains(refusal.Error(), secret) {
			t.Errorf("the refusal repeats the secret: %v", refusal)
		}
	}
	return refusal
}

func gzipped(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text)) // a buffer takes everything
	_ = w.Close()
	return out.String()
}

// publicOf is the text of a private key's public half.
func publicOf(private ed25519.PrivateKey) string { return SigningKey{private: private}.Public() }
