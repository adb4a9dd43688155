package dashboard

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// What a person had sent again is not called a retry.
func TestAgainAfter(t *testing.T) {
	t.Parallel()
	a := gateway.Attempt{StartedAt: time.Unix(0, 0), Duration: time.Second}
	for trigger, want := range map[gateway.Trigger]string{
		gateway.TriggerAuto: "retried after 5 s", gateway.TriggerManual: "redelivered after 5 s", gateway.TriggerRecover: "redelivered after 5 s",
	} {
		next := gateway.Attempt{StartedAt: time.Unix(6, 0), Trigger: trigger}
		if got := againAfter(a, next); got != want {
			t.Errorf("%s: %q, want %q", trigger, got, want)
		}
	}
}

// All of an attempt's time is shown, and where it was lost.
func TestTimingOfAnAttempt(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		a    gateway.Attempt
		want component.Timing
	}{
		"answered": {
			gateway.Attempt{Duration: 100 * ms, Timing: gateway.Timing{DNS: 5 * ms, Connect: 10 * ms, TLS: 20 * ms, FirstByte: 60 * ms}},
			component.Timing{DNS: 5 * ms, Connect: 10 * ms, TLS: 20 * ms, Wait: 60 * ms, Receive: 5 * ms},
		},
		"kept alive":    {gateway.Attempt{Duration: 100 * ms, Timing: gateway.Timing{FirstByte: 90 * ms}}, component.Timing{Wait: 90 * ms, Receive: 10 * ms}},
		"timeout":       {gateway.Attempt{Duration: 100 * ms, ErrorKind: gateway.ErrorTimeout, Timing: gateway.Timing{Connect: 10 * ms}}, component.Timing{Connect: 10 * ms, Wait: 90 * ms}},
		"black hole":    {gateway.Attempt{Duration: 100 * ms, ErrorKind: gateway.ErrorTimeout, Timing: gateway.Timing{Connect: 99 * ms}}, component.Timing{Connect: 99 * ms}},
		"refused":       {gateway.Attempt{Duration: 3 * ms, ErrorKind: gateway.ErrorConnect}, component.Timing{Connect: 3 * ms}},
		"no address":    {gateway.Attempt{Duration: 3 * ms, ErrorKind: gateway.ErrorDNS}, component.Timing{DNS: 3 * ms}},
		"bad handshake": {gateway.Attempt{Duration: 9 * ms, ErrorKind: gateway.ErrorTLS, Timing: gateway.Timing{Connect: 4 * ms}}, component.Timing{Connect: 4 * ms, TLS: 5 * ms}},
	} {
		if got := timing(c.a); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestOverallStatusOfAnEvent(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]store.Progress{
		"no_endpoints": {},
		"delivered":    {Total: 2, Delivered: 2},
		"failed":       {Total: 3, Delivered: 1, Failed: 1, Open: 1, Retrying: 1},
		"retrying":     {Total: 2, Delivered: 1, Open: 1, Retrying: 1},
		"pending":      {Total: 2, Delivered: 1, Open: 1},
		"held":         {Total: 2, Delivered: 1, Open: 1, Held: 1, Retrying: 1},
		"cancelled":    {Total: 2},
	} {
		if got := overall(gateway.EventNoEndpoints, p); got != want {
			t.Errorf("%+v is %s, want %s", p, got, want)
		}
	}
}

// Every outcome, cause and trigger has words of its own.
func TestWordsOfAttempts(t *testing.T) {
	t.Parallel()
	for _, k := range gateway.ErrorKinds {
		cause := gateway.Cause{ErrorKind: k}
		if text, tone := failure(gateway.OutcomeUnreachable, cause); text != page.CauseName(cause) || tone != component.ToneBad {
			t.Errorf("%s: %q", k, text)
		}
	}
	if text, _ := failure(gateway.OutcomeUnknown, gateway.Cause{}); text != "Unknown" {
		t.Error(text)
	}
	if text, _ := failure(gateway.OutcomeRejected, gateway.Cause{StatusCode: 503}); text != "" {
		t.Error(text)
	}
}
