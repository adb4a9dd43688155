package deliver

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestHealthOf(t *testing.T) {
	t.Parallel()
	result := func(outcome gateway.Outcome, code int, own bool) sent {
		return sent{
			Result:   store.Result{Attempt: gateway.Attempt{DeliveryID: gateway.DeliveryID{0: 1}, N: 1, Outcome: outcome, StatusCode: code}},
			answer:   gateway.Answer{Outcome: outcome, StatusCode: code},
			ownEvent: own,
		}
	}
	ok, no, gone := result(gateway.OutcomeSucceeded, 200, false), result(gateway.OutcomeRejected, 400, false), result(gateway.OutcomeRejected, 410, false)
	ownNo := result(gateway.OutcomeUnreachable, 0, true)
	refused, goneFor := gateway.Cause{StatusCode: 400}, gateway.Cause{StatusCode: 410}
	nothing, late := no, gone
	nothing.NoAttempt = true
	late.Attempt.N = 2 // its delivery was not changed by it
	for name, c := range map[string]struct {
		results []*sent
		want    health
	}{
		"none":                 {nil, health{onlyOwn: true}},
		"a success":            {[]*sent{&ok}, health{succeeded: true, onlyOwn: true}},
		"a failure":            {[]*sent{&no}, health{failedAfter: true, cause: refused}},
		"success then failure": {[]*sent{&ok, &no}, health{succeeded: true, failedAfter: true, cause: refused}},
		"failure then success": {[]*sent{&no, &ok}, health{succeeded: true, cause: refused}},
		"gone":                 {[]*sent{&gone, &ok}, health{succeeded: true, gone: true, cause: goneFor}},
		"gone before another":  {[]*sent{&gone, &no}, health{failedAfter: true, gone: true, cause: goneFor}},
		"own event":            {[]*sent{&ownNo}, health{failedAfter: true, onlyOwn: true}},
		"own event and other":  {[]*sent{&ownNo, &no}, health{failedAfter: true, cause: refused}},
		"nothing was sent":     {[]*sent{&nothing}, health{onlyOwn: true}},
		"came too late":        {[]*sent{&late}, health{onlyOwn: true}},
	} {
		changed := map[gateway.AttemptID]bool{ok.Attempt.ID(): true}
		if got := healthOf(c.results, changed); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "", "as it is: é": "as it is: é", "a\x00b": "a\ufffdb", "a\xffb": "a\ufffdb"} {
		if got := plain(given); got != want {
			t.Errorf("plain(%q) = %q, want %q", given, got, want)
		}
	}
}
