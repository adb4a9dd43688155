package signature

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testNow is the clock of the common cases.
var testNow = time.Unix(1_760_000_000, 0)

// sender is a scheme seen from the other side: it sends the kind's own sample,
// or another body, signed with a secret that works and one that does not. That
// it signs as the provider does is what the vectors prove: they came from
// elsewhere, and Verify takes both.
type sender struct {
	Scheme

	name     string
	settings json.RawMessage
	// secret and other are as stored; signing and foreign sign for them.
	secret, signing string
	other, foreign  string
}

const (
	keyA = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	keyB = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// textSecrets are secrets of every form that some kind insists on.
var textSecrets = [][2]string{
	{keyA, keyB},
	{strings.Repeat("AB", 32), strings.Repeat("CD", 32)},
	{"someone:a password", "someone:another one"},
}

// senders are all kinds with secrets, in each of the ways that
// testdata/KIND/settings.json lists, and with each sort of key.
func senders(t testing.TB) []sender {
	t.Helper()
	var list []sender
	for _, scheme := range schemes {
		if scheme.Info().Secret.Name == "" {
			continue
		}
		for i, settings := range settingsFor(t, scheme.Info().Kind) {
			name := scheme.Info().Kind
			if i > 0 {
				name += " " + strconv.Itoa(i)
			}
			found := len(list)
			for _, pair := range textSecrets {
				a, errA := scheme.CheckSecret(pair[0])
				b, errB := scheme.CheckSecret(pair[1])
				if errA == nil && errB == nil && !scheme.Info().Secret.Public {
					list = append(list, sender{scheme, name, settings, a, a, b, b})
					break
				}
			}
			if public, private := scheme.NewPair(); public != "" {
				other, foreign := scheme.NewPair()
				list = append(list, sender{scheme, name + " public", settings, public, private, other, foreign})
			}
			if len(list) == found {
				t.Fatalf("no secret for %s", name)
			}
		}
	}
	return list
}

// settingsFor are the settings to try a kind with.
func settingsFor(t testing.TB, kind string) []json.RawMessage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", kind, "settings.json"))
	if errors.Is(err, os.ErrNotExist) {
		return []json.RawMessage{nil}
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("settings of %s: %v", kind, err)
	}
	return all
}

func (s sender) verify(r Request, secrets ...string) (Verified, error) {
	return s.Verify(r, Settings{Raw: s.settings}, liveSecrets(secrets...))
}

// sampled is the kind's sample, signed at testNow.
func (s sender) sampled(t testing.TB) Request {
	t.Helper()
	r := s.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
	s.signWith(t, &r, s.signing)
	return r
}

// signed is the sample with another body.
func (s sender) signed(t testing.TB, body string) Request {
	t.Helper()
	r := s.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
	r.Body = []byte(body)
	s.signWith(t, &r, s.signing)
	return r
}

func (s sender) signWith(t testing.TB, r *Request, secret string) {
	t.Helper()
	if err := s.Sign(r, Settings{Raw: s.settings}, secret); err != nil {
		t.Fatalf("%s: sign: %v", s.name, err)
	}
}

// header is the header whose value depends on the secret; "" for kinds whose
// signature is in the body.
func (s sender) header(t testing.TB) string {
	t.Helper()
	r, again := s.sampled(t), s.sampled(t)
	s.signWith(t, &again, s.foreign)
	for name := range r.Header {
		if !reflect.DeepEqual(r.Header[name], again.Header[name]) {
			return name
		}
	}
	return ""
}

// timed tells that the sample's time is signed.
func (s sender) timed(t testing.TB) bool {
	t.Helper()
	r := s.sampled(t)
	r.Now = r.Now.Add(time.Second)
	verified, err := s.verify(r, s.secret)
	return err == nil && verified.Skew != 0
}

// TestCommonAccepts is what every scheme must take: its own sample, and any
// bytes at all where the signature covers them.
func TestCommonAccepts(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"json": `{"id":"evt_1","type":"order.created"}`, "empty": "", "trailing newline": "{}\n", "nul and bad utf-8": "\x00\xff\xfe",
		"form": "payload=%7B%7D&x=1+2", "gzip": gzipped(`{"id":"evt_1"}`), "bom": "\ufeff{}", "large": strings.Repeat("a", 1<<20),
		"deep": strings.Repeat("[", 12_000),
	}
	for _, s := range senders(t) {
		t.Run(s.name+"/sample", func(t *testing.T) {
			t.Parallel()
			verified, err := s.verify(s.sampled(t), s.secret)
			if err != nil {
				t.Fatal(err)
			}
			if verified.Secret != secretID(0) || len(verified.Events) == 0 || verified.Skew != 0 {
				t.Errorf("got %+v", verified)
			}
		})
		if s.Info().BodyOpen {
			continue // the signature is in the body, or says nothing about it
		}
		for name, body := range bodies {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				verified, err := s.verify(s.signed(t, body), s.secret)
				if timeIsMissing(err) {
					return // the time is to be in the body
				}
				if err != nil {
					t.Fatal(err)
				}
				if verified.Secret != secretID(0) || len(verified.Events) == 0 && verified.Handshake == nil {
					t.Errorf("got %+v", verified)
				}
			})
		}
	}
}

// timeIsMissing tells that a request was refused because its body should hold
// the time. Only after the signature is right is a body looked at.
func timeIsMissing(err error) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	return ok && refusal.Code == CodeMalformed && refusal.Header == ""
}

// TestSamplesDiffer: a sample is tried many times, and is a new event each time.
func TestSamplesDiffer(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		keys := map[string]bool{}
		for _, id := range []string{"0001", "0002"} {
			r := s.Sample("https://hooks.example.com/ingest/abc", id, testNow)
			s.signWith(t, &r, s.signing)
			verified, err := s.verify(r, s.secret)
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			for _, event := range verified.Events {
				if event.Key != "" && keys[event.Key] {
					t.Errorf("%s: two samples have the key %q", s.name, event.Key)
				}
				named := strings.Contains(string(s.settings), "type_header") // a header of the sender's own
				if event.Type == "" && s.events(t).kind != nil && !named {
					t.Errorf("%s: the sample has no type", s.name)
				}
				keys[event.Key] = true
			}
		}
	}
}

// events is how the kind reads its events.
func (s sender) events(t testing.TB) reader {
	t.Helper()
	planned, err := s.Scheme.(*provider).planned(s.settings)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return planned.events
}

// TestUnprovenIsTheSameEvent: a request that a person vouches for has the key
// that its repeat will have, which the sender signs.
func TestUnprovenIsTheSameEvent(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		r := s.sampled(t)
		verified, err := s.verify(r, s.secret)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if diff := cmp.Diff(verified.Events, s.Unproven(r, Settings{Raw: s.settings})); diff != "" {
			t.Errorf("%s (-proven +vouched for):\n%s", s.name, diff)
		}
	}
}

// TestCommonRefusals is what every scheme must refuse, and why.
func TestCommonRefusals(t *testing.T) {
	t.Parallel()
	body := map[string]func(r *Request){
		"one byte altered": func(r *Request) { r.Body[3] ^= 1 },
		"newline added":    func(r *Request) { r.Body = append(r.Body, '\n') },
		"body removed":     func(r *Request) { r.Body = nil },
		"compressed later": func(r *Request) { r.Body = []byte(gzipped(string(r.Body))) },
	}
	for _, s := range senders(t) {
		t.Run(s.name+"/signed by another", func(t *testing.T) {
			t.Parallel()
			r := s.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
			s.signWith(t, &r, s.foreign)
			_, err := s.verify(r, s.secret)
			_ = wantRefusal(t, err, CodeMismatch, s.secret)
		})
		if s.Info().BodyOpen {
			continue
		}
		for name, change := range body {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := s.sampled(t)
				change(&r)
				_, err := s.verify(r, s.secret)
				if !timeIsMissing(err) {
					_ = wantRefusal(t, err, CodeMismatch, s.secret)
				}
			})
		}
	}
}

// TestCommonHeaders is how every scheme reads the header with its signature.
func TestCommonHeaders(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(r *Request, header string)
		code   string
	}{
		"missing":     {func(r *Request, h string) { r.Header.Del(h) }, CodeMissing},
		"empty":       {func(r *Request, h string) { r.Header.Set(h, "") }, CodeMissing},
		"repeated":    {func(r *Request, h string) { r.Header.Add(h, r.Header.Get(h)) }, CodeMalformed},
		"contradicts": {func(r *Request, h string) { r.Header.Add(h, "v1,AAAA") }, CodeMalformed},
		"not ascii":   {func(r *Request, h string) { r.Header.Set(h, "podpis é") }, CodeMalformed},
		"not utf-8":   {func(r *Request, h string) { r.Header.Set(h, "\xff\xfe\x00") }, CodeMalformed},
		"garbage":     {func(r *Request, h string) { r.Header.Set(h, ";;;") }, CodeMalformed},
		"too short":   {func(r *Request, h string) { cut := r.Header.Get(h); r.Header.Set(h, cut[:len(cut)-2]) }, CodeMalformed},
		"too long":    {func(r *Request, h string) { r.Header.Set(h, r.Header.Get(h)+"00") }, CodeMalformed},
		"huge":        {func(r *Request, h string) { r.Header.Set(h, strings.Repeat("v1,A ", 1<<16)) }, CodeMalformed},
	}
	for _, s := range senders(t) {
		h := s.header(t)
		if h == "" {
			continue
		}
		for name, c := range cases {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := s.sampled(t)
				c.change(&r, h)
				_, err := s.verify(r, s.secret)
				refusal := wantRefusal(t, err, "", s.secret)
				// What is a secret itself, and not a signature, has no form.
				formless := s.isToken(h) && c.code == CodeMalformed
				if refusal.Code != c.code && (!formless || refusal.Code != CodeMismatch) {
					t.Errorf("code is %s, want %s (%s)", refusal.Code, c.code, refusal.Detail)
				}
			})
		}
	}
}

// isToken tells that a header is itself the secret.
func (s sender) isToken(header string) bool {
	return header == "Authorization" || slices.Contains(s.SecretHeaders(s.settings), header)
}

// TestCommonAddress: where the address is signed, another one is refused.
func TestCommonAddress(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		r := s.sampled(t)
		r.URL = strings.Replace(r.URL, "hooks.example.com", "internal.example.com", 1)
		_, err := s.verify(r, s.secret)
		if signed := err != nil; signed != s.Info().URLSigned && s.Info().Service() {
			t.Errorf("%s: the address is signed: %v, %v", s.name, signed, err)
		}
	}
}

// TestCommonSecrets is how every scheme treats the secrets it is given.
func TestCommonSecrets(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := s.sampled(t)
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
			if _, err := s.CheckSecret(" \n"); err == nil && s.Info().NeedsSecret() {
				t.Error("an empty secret can be saved")
			}
		})
	}
}

// TestEmptySecretNeverVerifies signs with the empty key, which HMAC allows.
func TestEmptySecretNeverVerifies(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		r := s.sampled(t)
		if s.Sign(&r, Settings{Raw: s.settings}, "") != nil {
			continue // there is no such key
		}
		_, err := s.verify(r, "")
		_ = wantRefusal(t, err, "")
	}
}

// TestCommonTimes is how every scheme that signs a time judges it.
func TestCommonTimes(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			usual := s.Info().Tolerance
			if usual == 0 {
				usual = DefaultTolerance
			}
			if timed := s.timed(t); timed != s.mustBeTimed() {
				t.Errorf("a time is signed: %v, as Info and settings say: %v", timed, !timed)
			}
			if !s.mustBeTimed() {
				return
			}
			if usual != AnyTime {
				checkTimes(t, s, 0, usual)
			}
			checkTimes(t, s, time.Hour, time.Hour)
			checkTimes(t, s, 10*time.Second, 10*time.Second)
		})
	}
}

// mustBeTimed tells that a time is signed under the settings. Of the kinds whose
// settings name all headers, only those that name one for the time have it.
func (s sender) mustBeTimed() bool {
	const named = "timestamp_header"
	chosen := slices.ContainsFunc(s.Info().Settings, func(own Setting) bool { return own.Name == named })
	return s.Info().Timed && (!chosen || strings.Contains(string(s.settings), named))
}

// checkTimes tries the edges of a tolerance.
func checkTimes(t *testing.T, s sender, chosen, edge time.Duration) {
	t.Helper()
	for _, skew := range []time.Duration{0, 3 * time.Second, -3 * time.Second, edge, -edge, edge + time.Second, -edge - time.Second, 55 * 365 * 24 * time.Hour} {
		r := s.sampled(t)
		r.Now = r.Now.Add(skew)
		verified, err := s.Verify(r, Settings{Tolerance: chosen, Raw: s.settings}, liveSecrets(s.secret))
		if skew.Abs() <= edge {
			if err != nil || verified.Skew != skew {
				t.Errorf("tolerance %s, skew %s: got %s, %v", chosen, skew, verified.Skew, err)
			}
			continue
		}
		if refusal := wantRefusal(t, err, CodeTimestamp, s.secret); refusal.Skew != skew {
			t.Errorf("skew is %v, want %v", refusal.Skew, skew)
		}
	}
}

// TestTimeIsJudgedLast: an old request with a wrong signature is a wrong
// signature. Its time is not the sender's.
func TestTimeIsJudgedLast(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		r := s.sampled(t)
		r.Now = r.Now.Add(24 * time.Hour)
		_, err := s.verify(r, s.other)
		_ = wantRefusal(t, err, CodeMismatch, s.secret)
	}
}

// TestHeaderNamesInAnyCase sends every header in lower case through the
// server's own way of reading names.
func TestHeaderNamesInAnyCase(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		r := s.sampled(t)
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
	for _, s := range senders(t) {
		r := s.sampled(t)
		before, headers := bytes.Clone(r.Body), r.Header.Clone()
		if _, err := s.verify(r, s.other, s.secret); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if !bytes.Equal(before, r.Body) || !reflect.DeepEqual(headers, r.Header) {
			t.Errorf("%s changed the request", s.name)
		}
	}
}

// wantRefusal fails unless err is a refusal with the code, or any where it is
// "", that keeps the secrets to itself.
func wantRefusal(t *testing.T, err error, code string, secrets ...string) *Refusal {
	t.Helper()
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v, want a refusal with %s", err, code)
	}
	if code != "" && refusal.Code != code || !slices.Contains(allCodes, refusal.Code) {
		t.Fatalf("code is %s, want %s (%s)", refusal.Code, code, refusal.Detail)
	}
	for _, secret := range secrets {
		if len(secret) > 2 && strings.Contains(refusal.Error(), secret) {
			t.Errorf("the refusal repeats the secret: %v", refusal)
		}
	}
	return refusal
}

var allCodes = []string{CodeMissing, CodeMalformed, CodeTimestamp, CodeMismatch}

func gzipped(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text)) // a buffer takes everything
	_ = w.Close()
	return out.String()
}

// sameForm tells that a request's body is a form that says the same as another
// to who signs names and values one after the other, with nothing between: what
// ends where is not covered then, nor how an escape is written.
func sameForm(r Request, other []byte) bool {
	return isForm(r.Header) && formText(r.Body) == formText(other)
}

// formText are the names and values of a form, in the order of the names, each
// value of a name once.
func formText(body []byte) string {
	var text strings.Builder
	form := readForm(body)
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range slices.Compact(slices.Sorted(slices.Values(form[name]))) {
			text.WriteString(name + value)
		}
	}
	return text.String()
}
