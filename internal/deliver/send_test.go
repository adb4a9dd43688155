package deliver_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// verify checks a signature with nothing but the standard library, as a
// receiver would that has one of the secrets.
func verify(t *testing.T, r request, secret string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.header.Get("Webhook-Id") + "." + r.header.Get("Webhook-Timestamp") + "." + string(r.body)))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return slices.Contains(strings.Fields(r.header.Get("Webhook-Signature")), want)
}

// secrets are an endpoint's live signing secrets, newest first.
func (b *bundle) secrets(t *testing.T, e gateway.Endpoint) (texts []string) {
	t.Helper()
	live, err := b.store.EndpointSecrets(t.Context(), e.AccountID, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range live {
		texts = append(texts, s.Value)
	}
	return texts
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) {
		e.Headers = gateway.EncodeHeaders(http.Header{"Authorization": {"Bearer hunter2"}, "X-Tenant": {"hunter3"}, "Content-Type": {"text/plain"}})
	})
	before := b.clock.Now()
	id := b.publish(t, e, 1)[0]
	d := b.untilStatus(t, id, gateway.DeliveryDelivered)
	got := r.requests()[0]
	if string(got.body) != eventBody {
		t.Errorf("body %q, want %q", got.body, eventBody)
	}
	for name, want := range map[string]string{
		"Webhook-Id": d.EventID.String(), "Idempotency-Key": id.String(), "Rowlock-Event-Type": eventType, "Rowlock-Attempt": "1",
		"User-Agent": userAgent, "Content-Type": "application/x-odd", "Authorization": "Bearer hunter2", "X-Tenant": "hunter3",
		"X-Their": "", "Rowlock-Fence": "",
	} {
		if value := got.header.Get(name); value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	unix, err := strconv.ParseInt(got.header.Get("Webhook-Timestamp"), 10, 64)
	if at := time.Unix(unix, 0); err != nil || at.Before(before.Truncate(time.Second)) || at.After(b.clock.Now()) {
		t.Errorf("timestamp %d, %v", unix, err)
	}
	if !verify(t, got, b.secrets(t, e)[0]) {
		t.Errorf("signature %q does not verify", got.header.Get("Webhook-Signature"))
	}
	a := b.attempts(t, id)[0]
	if shown := string(a.RequestHeaders); strings.Contains(shown, "hunter") || strings.Count(shown, gateway.Redacted) != 2 ||
		!strings.Contains(shown, "Webhook-Id: "+d.EventID.String()) || !strings.Contains(shown, "application/x-odd") {
		t.Errorf("shown headers:\n%s", shown)
	}
}

func TestRecordedAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("taken\x00"))
	})
	e := b.endpoint(t, r.URL)
	before := b.clock.Now()
	id := b.publish(t, e, 1)[0]
	d := b.untilStatus(t, id, gateway.DeliveryDelivered)
	a := b.attempts(t, id)[0]
	if a.StartedAt.Before(before.Truncate(time.Microsecond)) || a.Duration <= 0 || a.Timing.FirstByte <= 0 || a.Timing.Connect <= 0 {
		t.Errorf("times: %v, %v, %+v", a.StartedAt, a.Duration, a.Timing)
	}
	if !strings.Contains(string(a.ResponseHeaders), "X-Answer: yes") {
		t.Errorf("answer's headers %q", a.ResponseHeaders)
	}
	a.StartedAt, a.Duration, a.Timing, a.RequestHeaders, a.ResponseHeaders = time.Time{}, 0, gateway.Timing{}, nil, nil
	want := gateway.Attempt{
		DeliveryID: id, N: 1, AccountID: b.account, EndpointID: e.ID, EventID: d.EventID, Trigger: gateway.TriggerAuto,
		Outcome: gateway.OutcomeSucceeded, StatusCode: 202, ResponseBody: []byte("taken\x00"),
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if d.ClosedAt == nil || d.NextAttemptAt != nil || d.Attempts != 1 || d.LastOutcome == nil || *d.LastOutcome != gateway.OutcomeSucceeded {
		t.Errorf("delivery %+v", d)
	}
	stats, err := b.store.EndpointStats(t.Context(), b.account, e.ID, before.Add(-time.Minute))
	if err != nil || stats.Succeeded != 1 || stats.Rejected+stats.Unreachable+stats.Unknown != 0 || stats.Duration <= 0 {
		t.Errorf("stats %+v, %v", stats, err)
	}
}

// What identifies a delivery stays, what belongs to one attempt is new.
func TestRetriesKeepTheIDs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(400, 404, 200))
	e := b.endpoint(t, r.URL)
	id := b.publish(t, e, 1)[0]
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	got := r.requests()
	if len(got) != 3 {
		t.Fatalf("%d requests, want 3", len(got))
	}
	for i, req := range got {
		for _, name := range []string{"Webhook-Id", "Idempotency-Key", "Rowlock-Event-Type", "Content-Type"} {
			if req.header.Get(name) != got[0].header.Get(name) || req.header.Get(name) == "" {
				t.Errorf("attempt %d: %s is %q", i+1, name, req.header.Get(name))
			}
		}
		if n := req.header.Get("Rowlock-Attempt"); n != strconv.Itoa(i+1) || !verify(t, req, b.secrets(t, e)[0]) {
			t.Errorf("attempt %d has number %q, or a bad signature", i+1, n)
		}
	}
	for i, a := range b.attempts(t, id) {
		want := []int{400, 404, 200}[i]
		if a.N != i+1 || a.StatusCode != want {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
	}
}

// What was retried and what was given up are told apart, and each delivery
// knows why.
func TestRetriesAndEndsAreCounted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	retried := b.endpoint(t, newReceiver(t, status(400, 503, 200)).URL)
	failed := b.endpoint(t, newReceiver(t, status(404)).URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{soon} })
	for _, c := range []struct {
		endpoint gateway.Endpoint
		status   gateway.DeliveryStatus
		last     gateway.Cause
		want     store.Stats
	}{
		{retried, gateway.DeliveryDelivered, gateway.Cause{StatusCode: 200}, store.Stats{Succeeded: 1, Rejected: 2}},
		{failed, gateway.DeliveryFailed, gateway.Cause{StatusCode: 404}, store.Stats{Rejected: 2, GaveUp: 1}},
	} {
		d := b.untilStatus(t, b.publish(t, c.endpoint, 1)[0], c.status)
		if d.LastCause != c.last {
			t.Errorf("last cause of the %s one is %+v, want %+v", c.status, d.LastCause, c.last)
		}
		got, err := b.store.EndpointStats(t.Context(), b.account, c.endpoint.ID, b.clock.Now().Add(-time.Hour))
		if p := got.P95(); err != nil || p <= 0 || p > patience {
			t.Errorf("p95 is %s, %v", p, err)
		}
		got.Duration, got.Latencies = 0, store.Latencies{}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.status, diff)
		}
	}
}

func TestRotatedSecretsBothSign(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gate := make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, n int) {
		held(t, gate)(w, req, n)
		status(400, 400, 200)(w, req, n)
	})
	e := b.endpoint(t, r.URL)
	old := b.secrets(t, e)[0]
	id := b.publish(t, e, 1)[0]
	r.until(t, 1)
	rotated := b.addSecret(t, e)
	gate <- struct{}{}
	r.until(t, 2)
	b.exec(t, `UPDATE endpoint_secrets SET ends_at = now() WHERE id = (SELECT min(id::text)::uuid FROM endpoint_secrets)`)
	close(gate)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	for i, want := range []struct{ old, rotated bool }{{true, false}, {true, true}, {false, true}} {
		req := r.requests()[i]
		if byOld, byNew := verify(t, req, old), verify(t, req, rotated); byOld != want.old || byNew != want.rotated {
			t.Errorf("attempt %d: old %t, new %t, want %+v", i+1, byOld, byNew, want)
		}
	}
}

func TestNothingIsSentUnsigned(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	b.exec(t, `UPDATE endpoint_secrets SET ends_at = now()`)
	a := b.untilAttempts(t, b.publish(t, e, 1)[0], 1)[0]
	if a.Outcome != gateway.OutcomeUnreachable || a.ErrorKind != gateway.ErrorBlocked || !strings.Contains(a.Detail, "secret") {
		t.Errorf("attempt %+v", a)
	}
	if got := r.requests(); len(got) != 0 {
		t.Errorf("%d requests", len(got))
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	stuck := newReceiver(t, held(t, nil))
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	breaks := newReceiver(t, func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) })
	huge := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.Header().Set("X", strings.Repeat("x", 70<<10)) })
	for name, c := range map[string]struct {
		url     string
		outcome gateway.Outcome
		kind    gateway.ErrorKind
		code    int
	}{
		"200":      {newReceiver(t, status(200)).URL, gateway.OutcomeSucceeded, "", 200},
		"299":      {newReceiver(t, status(299)).URL, gateway.OutcomeSucceeded, "", 299},
		"302":      {newReceiver(t, status(302)).URL, gateway.OutcomeRejected, "", 302},
		"400":      {newReceiver(t, status(400)).URL, gateway.OutcomeRejected, "", 400},
		"500":      {newReceiver(t, status(500)).URL, gateway.OutcomeRejected, "", 500},
		"closed":   {closed.URL, gateway.OutcomeUnreachable, gateway.ErrorConnect, 0},
		"breaks":   {breaks.URL, gateway.OutcomeUnreachable, gateway.ErrorReset, 0},
		"timeout":  {stuck.URL, gateway.OutcomeUnreachable, gateway.ErrorTimeout, 0},
		"blocked":  {"https://10.1.2.3/", gateway.OutcomeUnreachable, gateway.ErrorBlocked, 0},
		"too long": {huge.URL, gateway.OutcomeUnreachable, gateway.ErrorTooLarge, 0},
		"tls":      {strings.Replace(stuck.URL, "http:", "https:", 1), gateway.OutcomeUnreachable, gateway.ErrorTLS, 0},
	} {
		e := b.endpoint(t, c.url, func(e *gateway.Endpoint) {
			e.RetrySchedule = []time.Duration{time.Hour}
			if c.kind == gateway.ErrorTimeout {
				e.Timeout = 50 * time.Millisecond
			}
		})
		id := b.publish(t, e, 1)[0]
		a := b.untilAttempts(t, id, 1)[0]
		if a.Outcome != c.outcome || a.ErrorKind != c.kind || a.StatusCode != c.code || (a.Detail != "") != (c.outcome == gateway.OutcomeUnreachable || c.code == 302) {
			t.Errorf("%s: %s/%s %d %q", name, a.Outcome, a.ErrorKind, a.StatusCode, a.Detail)
		}
		want := gateway.DeliveryPending
		if c.outcome == gateway.OutcomeSucceeded {
			want = gateway.DeliveryDelivered
		}
		if d := b.delivery(t, id); d.Status != want || *d.LastOutcome != c.outcome || (d.NextAttemptAt != nil) != (want == gateway.DeliveryPending) {
			t.Errorf("%s: delivery %+v", name, d)
		}
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, c := range map[string]struct {
		code  int
		after string
		want  time.Duration
	}{
		"429":           {429, "70", 70 * time.Second},
		"503":           {503, "71", 71 * time.Second},
		"capped":        {503, "999999999", gateway.MaxRetryAfter},
		"less than own": {429, "1", 10 * time.Second},
		"400 cannot":    {400, "70", 10 * time.Second},
	} {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Retry-After", c.after)
			w.WriteHeader(c.code)
		})
		e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{10 * time.Second} })
		id := b.publish(t, e, 1)[0]
		a := b.untilAttempts(t, id, 1)[0]
		wait := b.delivery(t, id).NextAttemptAt.Sub(a.StartedAt)
		if least, most := c.want-2*time.Second, c.want+2*time.Second; wait < least || wait > most {
			t.Errorf("%s: next attempt after %v, want %v", name, wait, c.want)
		}
	}
}

func TestWhenRetriesEnd(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, c := range map[string]struct {
		schedule []time.Duration
		stopOn   []int
		codes    []int
		want     int
	}{
		"server's schedule":   {nil, nil, []int{400}, 4},
		"own schedule":        {[]time.Duration{soon}, nil, []int{400}, 2},
		"one attempt":         {[]time.Duration{}, nil, []int{400}, 1},
		"stop_on":             {nil, []int{404, 422}, []int{400, 422}, 2},
		"stop_on, no such":    {[]time.Duration{soon}, []int{404}, []int{422}, 2},
		"stop_on is for good": {[]time.Duration{soon}, []int{404}, []int{404}, 1},
	} {
		r := newReceiver(t, status(c.codes...))
		e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.RetrySchedule, e.StopOn = c.schedule, c.stopOn })
		id := b.publish(t, e, 1)[0]
		d := b.untilStatus(t, id, gateway.DeliveryFailed)
		if n := len(r.requests()); n != c.want || d.Attempts != c.want || d.ClosedAt == nil || d.NextAttemptAt != nil {
			t.Errorf("%s: %d requests, want %d; %+v", name, n, c.want, d)
		}
	}
}

// A delivery cannot have more attempts than its ids can number: the last one
// closes it, whatever the schedule says.
func TestTheLastPossibleAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, newReceiver(t, status(400)).URL)
	id := b.queue(t, e, 1)[0]
	b.exec(t, `UPDATE deliveries SET attempts = $1`, gateway.MaxAttempts-1)
	b.wake(e)
	if d := b.untilStatus(t, id, gateway.DeliveryFailed); d.Attempts != gateway.MaxAttempts {
		t.Errorf("delivery %+v", d)
	}
}

func TestPayloadIsGone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	id := b.queue(t, e, 1)[0]
	b.exec(t, `DELETE FROM event_bodies`)
	b.wake(e)
	b.untilStatus(t, id, gateway.DeliveryCancelled)
	if n := len(b.attempts(t, id)); n != 0 || len(r.requests()) != 0 {
		t.Errorf("%d attempts, %d requests", n, len(r.requests()))
	}
}
