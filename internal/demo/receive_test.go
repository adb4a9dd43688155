package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/signature"
)

// received is a receiver of a demo that runs in this process.
type received struct {
	in      io.WriteCloser
	address string
	ended   chan error
}

func newReceived(t *testing.T, secret string) received {
	t.Helper()
	in, told := io.Pipe()
	said, out := io.Pipe()
	r := received{in: told, ended: make(chan error, 1)}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() { r.ended <- Receive(ctx, in, out) }()
	if err := json.NewEncoder(told).Encode(order{secret}); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var s standing
	if err := json.Unmarshal(line, &s); err != nil || !s.Address.Addr().IsLoopback() {
		t.Fatalf("it said %s: %v", line, err)
	}
	interrupt() // which is no end of its own
	r.address = "http://" + s.Address.String() + "/"
	return r
}

// deliver posts a body as Rowlock does.
func (r received) deliver(t *testing.T, path, secret, body string, attempt int) int {
	t.Helper()
	key, err := signature.ParseSigningKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.address+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	q.Header.Set("Webhook-Id", "evt_1")
	q.Header.Set("Webhook-Timestamp", fmt.Sprint(now))
	q.Header.Set("Webhook-Signature", signature.Sign([]signature.SigningKey{key}, "evt_1", now, []byte(body)))
	q.Header.Set("Rowlock-Attempt", fmt.Sprint(attempt))
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

func TestReceive(t *testing.T) {
	t.Parallel()
	secret := newSecret()
	r := newReceived(t, secret)
	for _, c := range []struct {
		path, secret, body string
		attempt, want      int
	}{
		{billing, secret, `{}`, 1, http.StatusOK},
		{billing, newSecret(), `{}`, 1, http.StatusUnauthorized},
		{search, secret, `{}`, 1, http.StatusGone},
		{crm, secret, `{"total":3,"currency":"EUR"}`, 1, http.StatusOK},
		{crm, secret, `{"total":0,"currency":"EUR"}`, 1, http.StatusUnprocessableEntity},
		{crm, secret, `{"total":3,"currency":"` + newCurrency + `"}`, 1, http.StatusUnprocessableEntity},
		{crm, secret, `{"total":3,"currency":"` + newCurrency + `"}`, 2, http.StatusOK},
		{mailer, secret, `{"user":"usr_1"}`, 1, http.StatusServiceUnavailable}, // it has no key yet
		{"elsewhere", secret, `{}`, 1, http.StatusNotFound},
	} {
		if got := r.deliver(t, c.path, c.secret, c.body, c.attempt); got != c.want {
			t.Errorf("%s %s, attempt %d: %d, want %d", c.path, c.body, c.attempt, got, c.want)
		}
	}
	if err := r.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestReceiveNeedsASecret(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{"nothing": "", "no JSON": "x\n", "no secret": `{"secret":"whsec_?"}` + "\n"} {
		if err := Receive(t.Context(), bytes.NewReader([]byte(in)), io.Discard); err == nil {
			t.Errorf("%s: it ended without an error", name)
		}
	}
}

// The CRM is down for a while in each round.
func TestCRMIsDownAtTimes(t *testing.T) {
	t.Parallel()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for since, want := range map[time.Duration]int{
		downFrom / 2: http.StatusOK, (downFrom + downUntil) / 2: http.StatusServiceUnavailable, (downUntil + downEvery) / 2: http.StatusOK,
		downEvery + (downFrom+downUntil)/2: http.StatusServiceUnavailable,
	} {
		w := works{since: time.Now().Add(-since)}
		if got := w.takeOrder(q, []byte(`{"total":1}`)); got != want {
			t.Errorf("after %s: %d, want %d", since, got, want)
		}
	}
}
