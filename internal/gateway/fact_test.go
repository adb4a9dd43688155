package gateway_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	rule := gateway.Rule{Rank: []string{"queued", "sent", "delivered"}, Terminal: []string{"delivered"}}
	repeats := rule
	repeats.Repeats = true
	sent := &gateway.Fact{State: "sent", Rank: rule.RankOf("sent"), Seen: []string{"sent"}}
	bounced := &gateway.Fact{State: "bounced", Seen: []string{"sent", "bounced"}}
	over := &gateway.Fact{State: "delivered", Rank: rule.RankOf("delivered"), Terminal: true, Seen: []string{"sent", "delivered"}}
	const isNew, twice, late = gateway.EventProcessed, gateway.EventDuplicateFact, gateway.EventStaleFact
	for _, c := range []struct {
		fact  *gateway.Fact
		rule  gateway.Rule
		state string
		want  gateway.EventStatus
	}{
		{nil, rule, "delivered", isNew},
		{sent, rule, "sent", twice},
		{sent, rule, "queued", late},
		{sent, rule, "delivered", isNew},
		{sent, rule, "bounced", isNew},
		{sent, repeats, "sent", isNew},
		{sent, repeats, "queued", late},
		{bounced, rule, "queued", isNew},
		{bounced, rule, "sent", twice},
		{bounced, repeats, "sent", isNew},
		{over, rule, "delivered", twice},
		{over, repeats, "delivered", twice},
		{over, rule, "sent", twice},
		{over, rule, "failed", late},
		{over, repeats, "failed", late},
	} {
		if got := c.fact.Judge(c.rule.Report(c.state)); got != c.want {
			t.Errorf("%+v, %s: %s, want %s", c.fact, c.state, got, c.want)
		}
	}
}

func TestAwaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule           gateway.Rule
		subject, state string
		want           bool
	}{
		{gateway.Rule{State: "s"}, "a", "b", false},
		{gateway.Rule{State: "s", RequiresExisting: true}, "a", "b", true},
		{gateway.Rule{State: "s", RequiresExisting: true}, "a", "", false},
		{gateway.Rule{RequiresExisting: true}, "a", "", true},
		{gateway.Rule{RequiresExisting: true}, "", "", false},
	} {
		if got := c.rule.Awaits(c.subject, c.state); got != c.want {
			t.Errorf("%+v", c)
		}
	}
}
