package receiver

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// try makes a receiver, sends it the requests and returns the last answer,
// what was printed and the counts.
func try(t *testing.T, o Options, requests ...*http.Request) (int, string, Counts) {
	t.Helper()
	var out bytes.Buffer
	o.Out = &out
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	status := 0
	for _, q := range requests {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, q)
		status = w.Code
	}
	return status, out.String(), r.Counts()
}

func post(body string) *http.Request {
	q := httptest.NewRequest(http.MethodPost, "/hook?a=1", strings.NewReader(body))
	q.Header.Set("Webhook-Id", "evt_1")
	q.Header.Set("Rowlock-Event-Type", "order.created")
	q.Header.Set("Rowlock-Attempt", "2")
	return q
}

// signed is a request signed now with the example secret.
func signed(t *testing.T, body string) *http.Request {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(exampleSecret, secretPrefix))
	if err != nil {
		t.Fatal(err)
	}
	q := post(body)
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("evt_1." + stamp + "." + body))
	q.Header.Set("Webhook-Timestamp", stamp)
	q.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return q
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	cut := httptest.NewRequest(http.MethodPost, "/", iotest.ErrReader(errors.New("cut off")))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		options Options
		request *http.Request
		status  int
		counts  Counts
		says    string
	}{
		"plain":              {Options{}, post("{}"), 200, Counts{Succeeded: 1}, "verified=unchecked answer=200"},
		"with a status":      {Options{Status: 204}, post("{}"), 204, Counts{Succeeded: 1}, "answer=204"},
		"with a bad status":  {Options{Status: 410}, post("{}"), 410, Counts{Failed: 1}, "answer=410"},
		"always failing":     {Options{FailRate: 1}, post("{}"), 500, Counts{Failed: 1}, "answer=500"},
		"delayed":            {Options{Delay: time.Millisecond}, post("{}"), 200, Counts{Succeeded: 1}, "answer=200"},
		"signed":             {Options{Secret: exampleSecret}, signed(t, "{}"), 200, Counts{Succeeded: 1}, "verified=yes answer=200"},
		"unsigned":           {Options{Secret: exampleSecret}, post("{}"), 401, Counts{Refused: 1}, "verified=no(header-missing) answer=401"},
		"refused, not fails": {Options{Secret: exampleSecret, FailRate: 1}, post("{}"), 401, Counts{Refused: 1}, "answer=401"},
		"as it chooses":      {Options{Answer: func(_ *http.Request, body []byte) int { return 200 + len(body) }}, post("{}"), 202, Counts{Succeeded: 1}, "answer=202"},
		"it chooses no":      {Options{Answer: func(*http.Request, []byte) int { return 422 }}, post("{}"), 422, Counts{Failed: 1}, "answer=422"},
		"no choice":          {Options{Secret: exampleSecret, Answer: func(*http.Request, []byte) int { return 200 }}, post("{}"), 401, Counts{Refused: 1}, "answer=401"},
		"cut off":            {Options{}, cut, 400, Counts{Refused: 1}, "answer=400"},
		"given up":           {Options{Delay: time.Hour}, post("{}").WithContext(gone), 503, Counts{Abandoned: 1}, "answer=none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, out, counts := try(t, tt.options, tt.request)
			if status != tt.status || !strings.Contains(out, tt.says) {
				t.Errorf("answered %d and printed %q, want %d and %q", status, out, tt.status, tt.says)
			}
			if diff := cmp.Diff(tt.counts, counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailRateIsAShare(t *testing.T) {
	t.Parallel()
	requests := make([]*http.Request, 200)
	for i := range requests {
		requests[i] = post("{}")
	}
	_, _, counts := try(t, Options{FailRate: 0.5}, requests...)
	if counts.Total() != len(requests) || counts.Succeeded == 0 || counts.Failed == 0 {
		t.Errorf("at a rate of one half: %s", counts)
	}
}

func TestLineTellsAll(t *testing.T) {
	t.Parallel()
	_, out, _ := try(t, Options{}, post(`{"a":1}`))
	want := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z POST /hook\?a=1 id=evt_1 type=order\.created attempt=2 bytes=7 verified=unchecked answer=200 sha256=015abd7f5cc5\n$`)
	if !want.MatchString(out) {
		t.Errorf("printed %q", out)
	}
	_, out, _ = try(t, Options{}, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if !strings.Contains(out, " GET / id=- type=- attempt=- bytes=0 ") {
		t.Errorf("a bare request printed %q", out)
	}
}

func TestHostileTextStaysOnItsLine(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"escape sequence":   "\x1b[2J",
		"forged line":       "x\nanswer=200",
		"forged field":      "x answer=200",
		"direction":         "a\u202eb",
		"invalid UTF-8":     "a\xffb",
		"very long":         strings.Repeat("é", 5000),
		"quote":             `a"b`,
		"backslash":         `a\nb`,
		"zero width":        "a\u200bb",
		"no-break space":    "a\u00a0answer=200",
		"separator of line": "a\u2028b",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := post("{}")
			q.Header["Webhook-Id"] = []string{text}
			_, out, _ := try(t, Options{}, q)
			line, rest, _ := strings.Cut(out, "\n")
			if rest != "" || len(line) > 600 {
				t.Errorf("printed %q", out)
			}
			for _, r := range line {
				if r != '…' && !strconv.IsPrint(r) || r == '\uFFFD' {
					t.Errorf("%q holds %q", line, r)
				}
			}
			if field := regexp.MustCompile(`id=(\S+|"[^"]*(\\"[^"]*)*"…?) type=order\.created `); !field.MatchString(line) {
				t.Errorf("fields cannot be told apart in %q", line)
			}
		})
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for name, o := range map[string]Options{
		"nowhere to print": {},
		"negative rate":    {Out: &out, FailRate: -0.1},
		"rate above one":   {Out: &out, FailRate: 1.1},
		"rate that is NaN": {Out: &out, FailRate: math.NaN()},
		"negative delay":   {Out: &out, Delay: -1},
		"status below 200": {Out: &out, Status: 100},
		"status above 599": {Out: &out, Status: 600},
		"bad secret":       {Out: &out, Secret: "whsec_!"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
