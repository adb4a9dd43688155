package gateway_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestCauseTellsTheOutcome(t *testing.T) {
	t.Parallel()
	for want, attempts := range map[gateway.Outcome][]gateway.Attempt{
		gateway.OutcomeRejected:    {{StatusCode: 500}, {StatusCode: 199}},
		gateway.OutcomeUnreachable: {{ErrorKind: gateway.ErrorTimeout}, {ErrorKind: gateway.ErrorProtocol, StatusCode: 101}},
		gateway.OutcomeUnknown:     {{}},
	} {
		for _, a := range attempts {
			if got := a.Cause().Outcome(); got != want {
				t.Errorf("%+v is %s, want %s", a.Cause(), got, want)
			}
		}
	}
}

func TestActorsAreTold(t *testing.T) {
	t.Parallel()
	user, key := gateway.UserID{15: 1}, gateway.KeyID{15: 2}
	for actor, want := range map[gateway.Actor][2]bool{
		gateway.Actor(user.String()):            {true, false},
		gateway.Actor(key.String()):             {false, true},
		gateway.ActorRowlock:                    {},
		"":                                      {},
		"usr_nobody":                            {},
		gateway.Actor(user.String() + " "):      {},
		gateway.Actor("key" + key.String()[3:]): {false, true},
	} {
		gotUser, isUser := actor.User()
		gotKey, isKey := actor.Key()
		if isUser != want[0] || isKey != want[1] || isUser && gotUser != user || isKey && gotKey != key {
			t.Errorf("%q: user %t, key %t", actor, isUser, isKey)
		}
	}
}
