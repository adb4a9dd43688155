package gateway_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

const halfway = 0.5 // jitter that changes nothing

var (
	now    = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	policy = gateway.RetryPolicy{Schedule: []time.Duration{5 * time.Second, 5 * time.Minute, time.Hour}, StopOn: []int{400, 410}}
)

func rejected(status int, retryAfter string) gateway.Answer {
	return gateway.Answer{Outcome: gateway.OutcomeRejected, StatusCode: status, RetryAfter: retryAfter}
}

func TestRetrySchedule(t *testing.T) {
	t.Parallel()
	unreachable := gateway.Answer{Outcome: gateway.OutcomeUnreachable}
	tests := map[string]struct {
		policy gateway.RetryPolicy
		answer gateway.Answer
		step   int
		status gateway.DeliveryStatus
		wait   time.Duration
	}{
		"success":                    {policy, gateway.Answer{Outcome: gateway.OutcomeSucceeded, StatusCode: 204}, 1, gateway.DeliveryDelivered, 0},
		"success at the last":        {policy, gateway.Answer{Outcome: gateway.OutcomeSucceeded, StatusCode: 200}, 4, gateway.DeliveryDelivered, 0},
		"success whatever stops":     {gateway.RetryPolicy{StopOn: []int{200}}, gateway.Answer{Outcome: gateway.OutcomeSucceeded, StatusCode: 200}, 1, gateway.DeliveryDelivered, 0},
		"first":                      {policy, rejected(500, ""), 1, gateway.DeliveryPending, 5 * time.Second},
		"second":                     {policy, unreachable, 2, gateway.DeliveryPending, 5 * time.Minute},
		"third":                      {policy, gateway.Answer{Outcome: gateway.OutcomeUnknown}, 3, gateway.DeliveryPending, time.Hour},
		"fourth is the last":         {policy, rejected(500, ""), 4, gateway.DeliveryFailed, 0},
		"beyond the last":            {policy, unreachable, 40, gateway.DeliveryFailed, 0},
		"an empty schedule":          {gateway.RetryPolicy{}, unreachable, 1, gateway.DeliveryFailed, 0},
		"a status that stops":        {policy, rejected(400, ""), 1, gateway.DeliveryFailed, 0},
		"gone, if it stops":          {policy, rejected(410, ""), 1, gateway.DeliveryFailed, 0},
		"gone waits for a resume":    {gateway.RetryPolicy{Schedule: policy.Schedule}, rejected(410, ""), 1, gateway.DeliveryPending, 5 * time.Second},
		"a status beside those":      {policy, rejected(401, ""), 1, gateway.DeliveryPending, 5 * time.Second},
		"no answer does not stop":    {policy, unreachable, 1, gateway.DeliveryPending, 5 * time.Second},
		"Retry-After cannot revive":  {policy, rejected(503, "1"), 4, gateway.DeliveryFailed, 0},
		"Retry-After does not delay": {policy, rejected(400, "600"), 1, gateway.DeliveryFailed, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, next := test.policy.Next(test.answer, test.step, now, halfway)
			want := time.Time{}
			if test.status == gateway.DeliveryPending {
				want = now.Add(test.wait)
			}
			if status != test.status || !next.Equal(want) {
				t.Errorf("%s at %s, want %s at %s", status, next, test.status, want)
			}
		})
	}
}

func TestJitterStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	r := seeded()
	low, high := time.Duration(math.MaxInt64), time.Duration(0)
	for i := range 10_000 {
		jitter := r.Float64()
		if i < 2 {
			jitter = float64(i) // the ends
		}
		_, next := policy.Next(rejected(500, ""), 2, now, jitter)
		low, high = min(low, next.Sub(now)), max(high, next.Sub(now))
	}
	if low != 270*time.Second || high != 330*time.Second {
		t.Errorf("5 minutes became %s to %s, want 10 %% each way", low, high)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const scheduled = 5 * time.Second
	date := func(in time.Duration) string { return now.Add(in).Format(http.TimeFormat) }
	tests := map[string]struct {
		status int
		text   string
		want   time.Duration
	}{
		"seconds at 429":            {429, "120", 2 * time.Minute},
		"seconds at 503":            {503, "120", 2 * time.Minute},
		"white space around":        {503, "  120\t", 2 * time.Minute},
		"not at 500":                {500, "120", scheduled},
		"not at 301":                {301, "120", scheduled},
		"sooner than the schedule":  {429, "1", scheduled},
		"none":                      {429, "", scheduled},
		"zero":                      {429, "0", scheduled},
		"negative":                  {429, "-120", scheduled},
		"no number":                 {429, "soon", scheduled},
		"a fraction":                {429, "120.5", scheduled},
		"a day and more":            {429, "86401", gateway.MaxRetryAfter},
		"more than a time can hold": {429, "9223372036854775807", gateway.MaxRetryAfter},
		"a date":                    {503, date(3 * time.Minute), 3 * time.Minute},
		"a date in the past":        {503, date(-time.Minute), scheduled},
		"a date far off":            {503, date(1000 * time.Hour), gateway.MaxRetryAfter},
		"an old kind of date":       {503, now.Add(time.Hour).Format(time.ANSIC), time.Hour},
		"long nonsense":             {503, strings.Repeat("9", 4000), scheduled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, next := policy.Next(rejected(test.status, test.text), 1, now, halfway)
			if status != gateway.DeliveryPending || next.Sub(now) != test.want {
				t.Errorf("%s in %s, want %s", status, next.Sub(now), test.want)
			}
		})
	}
}

// What the receiver asks for is honoured to the second: no jitter makes the
// next attempt come sooner.
func TestRetryAfterIsNeverCutShort(t *testing.T) {
	t.Parallel()
	for _, jitter := range []float64{0, 0.25, halfway, 1} {
		if _, next := policy.Next(rejected(429, "300"), 1, now, jitter); next.Sub(now) != 5*time.Minute {
			t.Errorf("jitter %v: in %s, want 5m", jitter, next.Sub(now))
		}
	}
}

func TestTroubleAndGone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer        gateway.Answer
		trouble, gone bool
	}{
		{gateway.Answer{Outcome: gateway.OutcomeSucceeded, StatusCode: 200}, false, false},
		{gateway.Answer{Outcome: gateway.OutcomeUnreachable}, true, false},
		{gateway.Answer{Outcome: gateway.OutcomeUnknown}, false, false},
		{rejected(404, ""), false, false},
		{rejected(410, ""), false, true},
		{rejected(429, ""), true, false},
		{rejected(499, ""), false, false},
		{rejected(500, ""), true, false},
		{rejected(599, ""), true, false},
	}
	for _, test := range tests {
		if test.answer.IsTrouble() != test.trouble || test.answer.IsGone() != test.gone {
			t.Errorf("%+v: trouble %t, gone %t", test.answer, test.answer.IsTrouble(), test.answer.IsGone())
		}
	}
}
