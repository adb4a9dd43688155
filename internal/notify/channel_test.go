package notify_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// chat takes messages as Slack does.
type chat struct {
	*httptest.Server

	mu     sync.Mutex
	status int
	texts  []string
}

func newChat(t *testing.T) *chat {
	t.Helper()
	c := &chat{status: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct {
			Text string `json:"text"`
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(raw, &message) != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("a message came as %q", raw)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.texts = append(c.texts, message.Text)
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

// answer sets what the chat answers, and returns what it was told so far.
func (c *chat) answer(status int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.texts
	c.status, c.texts = status, nil
	return told
}

// withChannels posts to this machine, too, and sends no mail.
func withChannels(t *testing.T) bundle {
	t.Helper()
	b := newBundle(t, "")
	out := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(out.CloseIdle)
	var err error
	b.Service, err = notify.New(notify.Options{
		Store: b.store, Clock: b.clock, Log: slog.New(slog.NewTextHandler(b.log, nil)), BaseURL: "https://hooks.example.com:8443",
		Egress: out, UserAgent: "Rowlock/test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const actor = gateway.Actor("usr_x")

// post has every mail that is due sent once, and returns their errors.
func (b bundle) post(t *testing.T) (errs []error) {
	t.Helper()
	all, err := b.Mails(t.Context(), store.Page[gateway.MailID]{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		errs = append(errs, b.Send(t.Context(), m.ID))
	}
	return errs
}

// A channel is told what it is to be told, once, besides the members, and
// although no mail is sent. Its address is in no log and no mail.
func TestChannelIsTold(t *testing.T) {
	t.Parallel()
	b, c := withChannels(t), newChat(t)
	lane := b.newTenant(t, "A & <B>")
	account := lane.AccountID
	b.newMember(t, account, "owner", gateway.RoleOwner)
	if err := b.SetChannel(t.Context(), account, actor, c.URL+"/services/T0/sesame", []gateway.AlertKind{gateway.AlertEndpointDisabled}); err != nil {
		t.Fatal(err)
	}
	b.emit(t, account, gateway.TypeEndpointDisabled, gateway.EndpointDisabledData{EndpointID: lane.EndpointID, Reason: "100 failures in a row"})
	b.emit(t, account, gateway.TypeEndpointFailing, gateway.EndpointFailingData{EndpointID: lane.EndpointID, Percent: 90, Failures: 90, DisableAfter: 100})
	b.alert(t)
	b.alert(t)
	b.post(t)
	b.post(t)
	told := c.answer(http.StatusOK)
	if len(told) != 1 || !strings.HasPrefix(told[0], "*[A &amp; &lt;B&gt;] billing.example.com was disabled: 100 failures in a row*\n\n") ||
		!strings.Contains(told[0], "/endpoints/"+lane.EndpointID.String()) || strings.Contains(told[0], "You get this mail") {
		t.Fatalf("told %q", told)
	}
	got, err := b.Channel(t.Context(), account)
	if err != nil || got.Last == nil || got.Last.SentAt == nil || !strings.HasPrefix(got.Host, "127.0.0.1:") {
		t.Errorf("%+v, %v", got, err)
	}
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM mails WHERE body IS NOT NULL AND channel_of IS NULL`); n != 2 {
		t.Errorf("%d mails are kept for the owner, want 2", n)
	}
	if strings.Contains(b.log.String(), "sesame") || pgtest.Count(t, b.pool, `SELECT count(*) FROM audit_log WHERE detail LIKE '%sesame%'`) != 0 {
		t.Error("the channel's address was told")
	}
}

// What a channel does not take is tried again, unless it said no for good; what
// waits goes with the channel.
func TestChannelThatRefuses(t *testing.T) {
	t.Parallel()
	b, c := withChannels(t), newChat(t)
	lane := b.newTenant(t, "Acme")
	account := lane.AccountID
	if err := b.SetChannel(t.Context(), account, actor, c.URL, gateway.AlertKinds); err != nil {
		t.Fatal(err)
	}
	disabled := func() {
		t.Helper()
		b.exec(t, `DELETE FROM mails`)
		b.emit(t, account, gateway.TypeEndpointDisabled, gateway.EndpointDisabledData{EndpointID: lane.EndpointID, Reason: "x"})
		b.alert(t)
	}
	for status, again := range map[int]bool{503: true, 429: true, 404: false, 302: false} {
		c.answer(status)
		disabled()
		b.post(t)
		got, err := b.Channel(t.Context(), account)
		if err != nil || got.Last == nil || (got.Last.DueAt != nil) != again || !strings.HasPrefix(got.Last.Failure, "answered ") {
			t.Errorf("%d: %+v, %v", status, got.Last, err)
		}
	}
	c.answer(http.StatusServiceUnavailable)
	disabled()
	if errs := b.post(t); len(errs) != 1 || errs[0] == nil {
		t.Errorf("errors %v", errs)
	}
	if err := b.RemoveChannel(t.Context(), account, actor); err != nil {
		t.Fatal(err)
	}
	b.exec(t, `UPDATE mails SET due_at = now() WHERE due_at IS NOT NULL`)
	c.answer(http.StatusOK)
	b.post(t)
	if told := c.answer(http.StatusOK); len(told) != 0 {
		t.Errorf("told %q after it was removed", told)
	}
	if err := b.RemoveChannel(t.Context(), account, actor); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestSetChannel(t *testing.T) {
	t.Parallel()
	b, c := withChannels(t), newChat(t)
	lane, other := b.newTenant(t, "Acme"), b.newTenant(t, "Other")
	account := lane.AccountID
	for name, set := range map[string]struct {
		url   string
		kinds []gateway.AlertKind
		field string
	}{
		"no address":          {"", gateway.AlertKinds, "url"},
		"a forbidden address": {"https://10.0.0.1/x", gateway.AlertKinds, "url"},
		"no address at all":   {"slack", gateway.AlertKinds, "url"},
		"no kind":             {c.URL, nil, "kinds"},
		"an unknown kind":     {c.URL, []gateway.AlertKind{"x"}, "kinds"},
	} {
		err := b.SetChannel(t.Context(), account, actor, set.url, set.kinds)
		if invalid, ok := errors.AsType[*gateway.InvalidError](err); !ok || invalid.Field != set.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	pgtest.AtOnce(4, func(int) {
		if err := b.SetChannel(t.Context(), account, actor, c.URL, gateway.AlertKinds[:1]); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // the second changes nothing
		if err := b.SetChannel(t.Context(), account, actor, "", gateway.AlertKinds[1:2]); err != nil {
			t.Fatal(err)
		}
	}
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM audit_log WHERE action = 'alerts.channel_set'`); n != 5 {
		t.Errorf("%d entries of the audit log", n)
	}
	got, err := b.Channel(t.Context(), account)
	if err != nil || len(got.Kinds) != 1 || got.Kinds[0] != gateway.AlertKinds[1] {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.Channel(t.Context(), other.AccountID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's: %v", err)
	}
	if refused, err := b.TestChannel(t.Context(), gateway.Account{ID: account, Name: "Acme"}, actor); refused != "" || err != nil {
		t.Errorf("test: %q, %v", refused, err)
	}
	c.answer(http.StatusForbidden)
	if refused, err := b.TestChannel(t.Context(), gateway.Account{ID: account, Name: "Acme"}, actor); refused != "answered 403 Forbidden" || err != nil {
		t.Errorf("test: %q, %v", refused, err)
	}
	if _, err := b.TestChannel(t.Context(), gateway.Account{ID: other.AccountID}, actor); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("test of another account: %v", err)
	}
}
