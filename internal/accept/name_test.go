package accept_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// setRule gives a source a rule, of which the service is told.
func (b bundle) setRule(t *testing.T, source gateway.Source, rule *gateway.Rule) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		_, err := tx.SetSourceRule(t.Context(), b.account, source.ID, rule)
		return err
	})
	b.ForgetSources()
}

// plain sends a body to a source that proves nothing.
func (b bundle) plain(t *testing.T, source gateway.Source, body string) accept.Received {
	t.Helper()
	got, err := b.Receive(t.Context(), accept.Incoming{Token: source.Token, Method: http.MethodPost, Header: http.Header{}, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The rule's key stands in for the kind's: whole numbers are exact, and twenty
// at once with one key are one event.
func TestTheRuleNamesTheKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "none", "")
	b.setRule(t, source, &gateway.Rule{Key: "body.id", Type: `"order." + body.what`})
	first := b.plain(t, source, `{"id":9007199254740992,"what":"made"}`)
	second := b.plain(t, source, `{"id":9007199254740993,"what":"made"}`)
	if first.Duplicate || second.Duplicate {
		t.Error("two keys are one")
	}
	if again := b.plain(t, source, `{"id":9007199254740993,"what":"sold"}`); !again.Duplicate || again.ID != second.ID {
		t.Errorf("%+v, want a repeat of %s", again, second.ID)
	}
	if e, _ := b.event(t, second.ID); string(e.Key) != "9007199254740993" || e.Type != "order.made" || e.RuleFailed {
		t.Errorf("%+v", e)
	}
	pgtest.AtOnce(20, func(int) { b.plain(t, source, `{"id":"x","what":"made"}`) })
	b.wantRows(t, rows{events: 3, keys: 3, requests: 20})
}

// A key that cannot be read: each is an event, without a key, and the type is
// the kind's. What went wrong is said when it is decided.
func TestAKeyThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	for name, rule := range map[string]gateway.Rule{
		"key":                 {Key: "body.idd"},
		"huge":                {Key: hugeText},
		"a later version's":   {Key: "body.id ~ 1"},
		"type":                {Type: "body.idd"},
		"type, the key is ok": {Key: "body.id", Type: "body.id"},
	} {
		b.setRule(t, source, &rule)
		got, err := b.Receive(t.Context(), signed(source, proof, "delivery "+name, fmt.Sprintf(`{"id":%q}`, "\t"+name)))
		if err != nil || got.Duplicate {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		want := ""
		switch name {
		case "type":
			want = "delivery type" // the kind's
		case "type, the key is ok":
			want = "\t" + name
		}
		if e, _ := b.event(t, got.ID); string(e.Key) != want || e.Type != "push" || !e.RuleFailed || e.Status != gateway.EventAccepted {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// hugeText would be a GiB.
var hugeText = func() string {
	text := "body.id"
	for range 28 {
		text = "[" + text + "].map(x, x + x)[0]"
	}
	return text
}()

// Each event of a request is named by what it brought alone; a rule that is gone
// names nothing.
func TestTheRuleNamesEachEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	b.setRule(t, s.source, &gateway.Rule{Key: `has(body[0].sg_event_id) ? body[0].sg_event_id + "!" : body[0].n`, Type: `"mail." + body[0].event`})
	names := func() (got []string) {
		t.Helper()
		receipt, err := b.Service.Receive(t.Context(), s.signed(t, mails("a", "b", "")))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range receipt.Events {
			e, _ := b.event(t, r.ID)
			got = append(got, e.Type+" "+string(e.Key))
		}
		return got
	}
	if diff := cmp.Diff([]string{"mail.delivered a!", "mail.delivered b!", "mail.open 2"}, names()); diff != "" {
		t.Error(diff)
	}
	b.setRule(t, s.source, nil)
	if diff := cmp.Diff([]string{"delivered a", "delivered b", "open "}, names()); diff != "" {
		t.Error(diff)
	}
}

// A source that is remembered is told of a new rule by the database.
func TestANewRuleIsTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "none", "")
	b.plain(t, source, `{"id":1}`)
	b.in(t, func(tx store.Tx) error {
		_, err := tx.SetSourceRule(t.Context(), b.account, source.ID, &gateway.Rule{Key: "body.id"})
		return err
	})
	b.Age(accept.SourceTTL)
	if got := b.plain(t, source, `{"id":1}`); got.Duplicate {
		t.Error("the first had no key")
	}
	if got := b.plain(t, source, `{"id":1}`); !got.Duplicate {
		t.Error("the rule is not asked")
	}
}

// isInvalid tells that an error is about one field.
func isInvalid(field string) func(error) bool {
	return func(err error) bool {
		invalid, ok := errors.AsType[*gateway.InvalidError](err)
		return ok && invalid.Field == field
	}
}

// tryRule tries a rule at a source.
func (b bundle) tryRule(t *testing.T, source gateway.Source, trial accept.RuleTrial) []accept.RuleTried {
	t.Helper()
	tried, err := b.TryRule(t.Context(), b.account, source.ID, trial)
	if err != nil {
		t.Fatal(err)
	}
	return tried
}

func TestTryRule(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	header := http.Header{"X-Github-Event": {"push"}, "X-Github-Delivery": {"d1"}}
	seen := b.plainRule(t, source)
	fact := b.factOf(t, source, "m1")
	for name, c := range map[string]struct {
		rule *gateway.Rule
		body string
		want accept.RuleTried
	}{
		"no rule": {nil, "no json", accept.RuleTried{Key: "d1", Received: "push", Type: "push", Status: gateway.EventProcessed}},
		"all of it": {
			&gateway.Rule{Key: "body.id", Type: `"github." + type`, Subject: "body.m", State: "body.s", Emit: "type + '.' + body.s"}, `{"id":1,"m":"m2","s":"sent"}`,
			accept.RuleTried{Key: "1", Received: "github.push", Type: "github.push.sent", Subject: "m2", State: "sent", Status: gateway.EventProcessed},
		},
		"a key that is known": {
			&gateway.Rule{Key: "body.id"}, `{"id":"seen"}`,
			accept.RuleTried{Key: "seen", First: &seen, Received: "push", Type: "push", Status: gateway.EventProcessed},
		},
		"no key": {
			&gateway.Rule{Key: "body.idd"}, `{"id":1}`,
			accept.RuleTried{Received: "push", Type: "push", Status: gateway.EventRuleError, Reason: "the rule's key has no answer: no such key: idd"},
		},
		"no state": {
			&gateway.Rule{Subject: "body.m", State: "body.s"}, `{"m":"m1"}`,
			accept.RuleTried{Key: "d1", Received: "push", Type: "push", Subject: "m1", Status: gateway.EventRuleError, Reason: "the rule's state has no answer: no such key: s"},
		},
		"told before": {
			&gateway.Rule{Subject: "body.m", State: "body.s"}, `{"m":"m1","s":"delivered"}`,
			accept.RuleTried{Key: "d1", Received: "push", Type: "push", Subject: "m1", State: "delivered", Status: gateway.EventDuplicateFact, Reason: "that m1 is delivered was told before", Fact: &fact},
		},
		"too late": {
			&gateway.Rule{Subject: "body.m", State: "body.s", Emit: "null"}, `{"m":"m1","s":"failed"}`,
			accept.RuleTried{
				Key: "d1", Received: "push", Type: "push", Silent: true, Subject: "m1", State: "failed", Status: gateway.EventStaleFact,
				Reason: "the last word on m1 is delivered, by " + fact.EventID.String() + ": failed comes too late", Fact: &fact,
			},
		},
		"silent": {
			&gateway.Rule{Emit: "null"}, `{}`,
			accept.RuleTried{Key: "d1", Received: "push", Type: "push", Silent: true, Status: gateway.EventIgnored, Reason: "the rule emits nothing for it"},
		},
		"waits": {
			&gateway.Rule{Subject: "body.m", State: "body.s", RequiresExisting: true}, `{"m":"m2","s":"sent"}`,
			accept.RuleTried{
				Key: "d1", Received: "push", Type: "push", Subject: "m2", State: "sent", Status: gateway.EventAccepted,
				Reason: "nothing else has told of m2: it waits for that, and is unresolved in the end",
			},
		},
		"does not wait": {
			&gateway.Rule{Subject: "body.m", RequiresExisting: true}, `{"m":"m1"}`,
			accept.RuleTried{Key: "d1", Received: "push", Type: "push", Subject: "m1", Status: gateway.EventProcessed, Fact: &fact},
		},
		"huge": {
			&gateway.Rule{Subject: hugeText}, `{"id":"x"}`,
			accept.RuleTried{Key: "d1", Received: "push", Type: "push", Status: gateway.EventRuleError, Reason: "the rule's subject has no answer: it takes too many steps for an event like this"},
		},
	} {
		got := b.tryRule(t, source, accept.RuleTrial{Rule: c.rule, Header: header, Body: []byte(c.body)})
		if diff := cmp.Diff([]accept.RuleTried{c.want}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	b.wantRows(t, rows{events: 1, keys: 1})
}

// plainRule takes in an event with the key "seen" by the source's rule, and takes
// the rule away.
func (b bundle) plainRule(t *testing.T, source gateway.Source) gateway.EventID {
	t.Helper()
	b.setRule(t, source, &gateway.Rule{Key: "body.id"})
	got, err := b.Receive(t.Context(), signed(source, proof, "d0", `{"id":"seen"}`))
	if err != nil {
		t.Fatal(err)
	}
	b.setRule(t, source, nil)
	return got.ID
}

// factOf makes a fact: the subject is delivered for good.
func (b bundle) factOf(t *testing.T, source gateway.Source, subject string) gateway.Fact {
	t.Helper()
	var fact gateway.Fact
	b.in(t, func(tx store.Tx) error {
		_, err := tx.TellFacts(t.Context(), []store.Report{{
			Report: gateway.Report{State: "delivered", Terminal: true}, AccountID: b.account, SourceID: source.ID, Subject: subject,
			EventID: gateway.EventID(b.clock.NewID()), FactID: gateway.FactID(b.clock.NewID()),
		}})
		return err
	})
	fact, err := b.store.FactOf(t.Context(), b.account, source.ID, subject)
	if err != nil {
		t.Fatal(err)
	}
	return fact
}

// An event is tried as it came in, each of a request by itself; what is not the
// source's is none to try.
func TestTryRuleOnAnEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	receipt, err := b.Service.Receive(t.Context(), s.signed(t, mails("a", "b")))
	if err != nil {
		t.Fatal(err)
	}
	rule := gateway.Rule{Type: `"mail." + body[0].event`, Subject: "body[0].sg_event_id"}
	id := receipt.Events[1].ID
	got := b.tryRule(t, s.source, accept.RuleTrial{Rule: &rule, Event: &id})
	if len(got) != 1 || got[0].Subject != "b" || got[0].Key != "b" || *got[0].First != id || got[0].Received != "mail.delivered" {
		t.Errorf("%+v", got)
	}
	both := b.tryRule(t, s.source, accept.RuleTrial{Rule: &rule, Body: []byte(mails("c", "d"))})
	if len(both) != 2 || both[0].Key != "c" || both[1].Key != "d" || both[1].Subject != "d" {
		t.Errorf("%+v", both)
	}
	if many := b.tryRule(t, s.source, accept.RuleTrial{Body: []byte(mails(strings.Split(strings.Repeat("x,", 50), ",")...))}); len(many) != 20 {
		t.Errorf("%d were tried, want 20", len(many))
	}
	other := b.newSource(t, "none", "")
	for _, c := range []struct {
		source gateway.SourceID
		want   func(error) bool
	}{
		{other.ID, isInvalid("event")},
		{b.api, isError(gateway.ErrBuiltIn)},
		{gateway.SourceID(b.clock.NewID()), isError(gateway.ErrNotFound)},
	} {
		if _, err := b.TryRule(t.Context(), b.account, c.source, accept.RuleTrial{Rule: &rule, Event: &id}); !c.want(err) {
			t.Error(err)
		}
	}
	b.exec(t, `UPDATE events SET payload_deleted_at = now()`)
	if _, err := b.TryRule(t.Context(), b.account, s.source.ID, accept.RuleTrial{Event: &id}); !isInvalid("event")(err) {
		t.Error(err)
	}
}

// The test console tells by what the source would know its request.
func TestTheConsoleAsksTheRule(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	b.setRule(t, source, &gateway.Rule{Key: "body.id", Type: "'mine.' + type"})
	for round := range 2 {
		tried, err := b.Try(t.Context(), b.account, tester, source.ID, accept.Trial{Body: []byte(`{"id":7}`), Send: round == 0})
		if err != nil || len(tried.Events) != 1 || tried.Events[0].Key != "7" || !strings.HasPrefix(tried.Events[0].Type, "mine.") || tried.Events[0].Duplicate != (round == 1) {
			t.Fatalf("%+v, %v", tried.Events, err)
		}
	}
}
