package deliver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
)

// logged is what a node has logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// attempts are the lines of attempts.
func (l *logged) attempts(t *testing.T) (lines []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for text := range bytes.Lines(l.text.Bytes()) {
		var line map[string]any
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if line["msg"] == "attempt" {
			lines = append(lines, line)
		}
	}
	return lines
}

func loggedTo(l *logged, level slog.Level) func(*deliver.Options) {
	return func(o *deliver.Options) { o.Log = slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level})) }
}

// Each attempt is one line that says which it was, how it ended and what follows.
func TestEachAttemptIsALine(t *testing.T) {
	t.Parallel()
	var log logged
	b := newBundle(t, loggedTo(&log, slog.LevelInfo))
	r := newReceiver(t, status(500, 200))
	e := b.endpoint(t, r.URL+"/hidden?token=hunter2", func(e *gateway.Endpoint) {
		e.Headers = gateway.EncodeHeaders(http.Header{"X-Secret": {"hunter3"}})
	})
	id := b.publish(t, e, 1)[0]
	d := b.untilStatus(t, id, gateway.DeliveryDelivered)

	lines := log.attempts(t)
	if len(lines) != 2 {
		t.Fatalf("%d lines for two attempts: %v", len(lines), lines)
	}
	for i, want := range []map[string]any{
		{"attempt": 1.0, "outcome": "rejected", "status_code": 500.0, "status": "pending"},
		{"attempt": 2.0, "outcome": "succeeded", "status_code": 200.0, "status": "delivered"},
	} {
		want["level"], want["msg"], want["trigger"] = "INFO", "attempt", "auto"
		want["account"], want["endpoint"], want["delivery"], want["event"] = b.account.String(), e.ID.String(), d.ID.String(), d.EventID.String()
		got := lines[i]
		if took, ok := got["duration_ms"].(float64); !ok || took <= 0 {
			t.Errorf("it took %v", got["duration_ms"])
		}
		if _, waits := got["next_attempt_at"]; waits != (i == 0) {
			t.Errorf("attempt %d: next attempt at %v", i+1, got["next_attempt_at"])
		}
		for _, measured := range []string{"time", "duration_ms", "dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "next_attempt_at", "event_type"} {
			delete(got, measured)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	for _, secret := range []string{"hunter", "hidden", "whsec_", "http://"} {
		if strings.Contains(log.text.String(), secret) {
			t.Errorf("the log shows %q", secret)
		}
	}
}

// An attempt that got no answer says why; where nobody wants the lines there are
// none.
func TestTheLineOfAnAttemptWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	var log, warnings logged
	for level, to := range map[slog.Level]*logged{slog.LevelInfo: &log, slog.LevelWarn: &warnings} {
		b := newBundle(t, loggedTo(to, level), func(o *deliver.Options) { o.Schedule = []time.Duration{time.Hour} })
		e := b.endpoint(t, "http://127.0.0.1:1")
		b.publish(t, e, 1)
		b.untilCount(t, 1, `SELECT count(*) FROM attempts`)
	}
	lines := log.attempts(t)
	if len(lines) != 1 || lines[0]["outcome"] != "unreachable" || lines[0]["error_kind"] != "connect" || lines[0]["status_code"] != nil {
		t.Errorf("%v", lines)
	}
	if lines := warnings.attempts(t); len(lines) != 0 {
		t.Errorf("%v", lines)
	}
}

// A line is to cost little beside a request: some microseconds.
func BenchmarkTheLineOfAnAttempt(b *testing.B) {
	for name, level := range map[string]slog.Level{"written": slog.LevelInfo, "off": slog.LevelWarn} {
		b.Run(name, func(b *testing.B) {
			lines := slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: level}) //nolint:sloglint // its work is measured
			s := deliver.New(deliver.Options{Workers: 1, Log: slog.New(lines)})
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.LogSuccess(b.Context())
				}
			})
		})
	}
}
