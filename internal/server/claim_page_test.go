package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// told is an account one of whose types is to reach an endpoint once.
type told struct {
	*browser
	*sender
	n *tenant
	// status is what the endpoint answers.
	status atomic.Int32
	// endpoint is its id.
	endpoint string
}

// newTold makes one whose facts are handled so in doubt.
func newTold(t *testing.T, doubt gateway.OnDoubt) *told {
	t.Helper()
	f := &told{sender: &sender{}}
	f.browser = newBundle(t, withPages, f.runs(t)).signedUp(t, "Acme")
	f.n = f.tenant()
	f.status.Store(http.StatusOK)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(f.status.Load())) }))
	t.Cleanup(receiver.Close)
	err := f.store.InTx(t.Context(), func(tx store.Tx) error {
		_, err := tx.CreateEventType(t.Context(), f.n.account, gateway.EventType{Name: "credit.checked", SingleFire: true, OnDoubt: doubt}, gateway.MaxEventTypes)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.endpoint = text(f.n.must(201, http.MethodPost, "/endpoints", object{"url": receiver.URL, "description": "Loan <desk>"}), "id")
	return f
}

// report publishes the fact once more, and has it sent; it returns the delivery.
func (f *told) report(subject string) string {
	f.n.t.Helper()
	event := f.n.publish(fmt.Sprintf(`{"type":"credit.checked","subject":%q,"data":1}`, subject))
	f.process(f.n.t, event)
	f.wake(f.n)
	return text(entries(f.n.must(200, http.MethodGet, "/deliveries?event="+event, nil))[0], "id")
}

// until waits until a delivery has a status.
func (f *told) until(delivery, status string, attempts float64) {
	f.n.t.Helper()
	pgtest.Until(f.n.t, "the delivery is "+status, func() bool {
		d := f.n.must(200, http.MethodGet, "/deliveries/"+delivery, nil)
		return d["status"] == status && d["attempt_count"] == attempts
	})
}

// claimOf is the page of the claim of a subject.
func (f *told) claimOf(subject string) page {
	f.n.t.Helper()
	claims := entries(f.n.must(200, http.MethodGet, "/claims?subject="+subject, nil))
	if len(claims) != 1 {
		f.n.t.Fatalf("%d claims", len(claims))
	}
	p := f.get(f.home + "/claims/" + text(claims[0], "id"))
	p.wantStatus(http.StatusOK)
	return p
}

// inDoubt leaves the fact as a node does that dies while it sends it, an hour
// ago: nobody has said how it went.
func (f *told) inDoubt(subject string) {
	f.n.t.Helper()
	for _, statement := range []string{
		`UPDATE claims SET state = 'in_progress', ended_at = NULL, lease_expires_at = now() - interval '1 hour' WHERE subject = $1`,
		`UPDATE claim_holds SET ended = NULL, ended_at = NULL WHERE claim_id = (SELECT id FROM claims WHERE subject = $1)`,
	} {
		if _, err := f.pool.Exec(f.n.t.Context(), statement, subject); err != nil {
			f.n.t.Fatal(err)
		}
	}
}

// roles are what the deliveries of a claim are to it, with their status.
func (p page) roles() (roles []string) {
	for _, row := range p.Find("#deliveries tbody tr").EachIter() {
		roles = append(roles, row.Find(".badge").AttrOr("data-s", "")+" "+strings.TrimSpace(row.Find("td").Eq(2).Text()))
	}
	return roles
}

// A fact that was confirmed says when, to whom, by which delivery, and what was
// not told again.
func TestClaimOfAConfirmedFact(t *testing.T) {
	t.Parallel()
	f := newTold(t, gateway.OnDoubtResend)
	first := f.report("customer-1")
	f.until(first, "delivered", 1)
	f.until(f.report("customer-1"), "suppressed", 0)
	p := f.claimOf("customer-1")
	p.wantText("h1", "customer-1")
	p.wantText("#meaning", "Loan <desk> was told at")
	p.wantText("#holds", "Completed")
	if got := p.roles(); !slices.Equal(got, []string{"suppressed –", "delivered told it"}) {
		t.Errorf("deliveries: %q", got)
	}
	if p.Find("#attempts .attempt").Length() != 1 || !slices.Contains(p.hrefs("#holds a"), f.home+"/deliveries/"+first) {
		t.Error("the attempt and its delivery are not shown")
	}
	all := f.get(p.hrefs("#deliveries .card-head a")[0])
	if all.Find("#deliveries tbody tr").Length() != 2 {
		t.Errorf("%d are listed", all.Find("#deliveries tbody tr").Length())
	}
	answer := f.get(f.home + "/claims?q=customer-1")
	answer.wantText("#answer", "Loan <desk> was told at")
	if got := answer.hrefs("#answer a"); !slices.Contains(got, f.home+"/deliveries/"+first) {
		t.Errorf("the answer leads to %q", got)
	}
	if by := f.get(f.home + "/claims?q=credit.checked%23customer-1"); by.Find("#claims tbody tr").Length() != 1 {
		t.Error("it is not found by its key")
	}
	if scope := p.hrefs(".lede a"); len(scope) != 1 || scope[0] != f.home+"/endpoints/"+f.endpoint {
		t.Errorf("the scope leads to %q", scope)
	}
}

// A fact that was refused says so, and when it is tried again; what waits for it
// is counted.
func TestClaimOfARefusedFact(t *testing.T) {
	t.Parallel()
	f := newTold(t, gateway.OnDoubtHold)
	f.status.Store(http.StatusInternalServerError)
	first := f.report("customer-1")
	f.until(first, "pending", 1)
	p := f.claimOf("customer-1")
	p.wantText("h1 .badge", "Released")
	p.wantText("#meaning", "Loan <desk> was not told")
	p.wantText("#meaning", "It is tried again in")
	f.n.must(200, http.MethodPost, "/endpoints/"+f.endpoint+"/pause", nil)
	f.claimOf("customer-1").wantText("#meaning", "It goes on when its endpoint is resumed.")
	f.n.must(200, http.MethodPost, "/deliveries/"+first+"/cancel", nil)
	f.claimOf("customer-1").wantText("#meaning", "The delivery is cancelled. Redeliver the delivery")
}

// Of a fact in doubt nobody knows whether it arrived: the page says what to ask
// and what to press, and both ways out work.
func TestClaimOfAFactInDoubt(t *testing.T) {
	t.Parallel()
	for doubt, want := range map[gateway.OnDoubt]string{gateway.OnDoubtHold: "It waits for you. Ask the receiver", gateway.OnDoubtResend: "It is sent again by itself"} {
		t.Run(string(doubt), func(t *testing.T) {
			t.Parallel()
			f := newTold(t, doubt)
			f.status.Store(http.StatusInternalServerError)
			for _, subject := range []string{"customer-1", "customer-2"} {
				f.until(f.report(subject), "pending", 1)
				f.inDoubt(subject)
				p := f.claimOf(subject)
				p.wantText("h1 .badge", "Lease ended")
				p.wantText("#meaning", "In doubt: nobody knows whether Loan <desk> was told")
				p.wantText("#meaning", want)
				p.wantText("#holds", "Its lease ended without a word")
			}
			f.status.Store(http.StatusOK)
			reason := map[string][]string{"reason": {"asked them"}}
			question := f.get(f.claimOf("customer-1").path + "/resolve")
			question.wantText("form.dialog", "Loan <desk> is not told any more")
			f.follow(f.submit(question, "form.dialog", reason)).wantText("#meaning", "Marked as told by Person of Acme")
			question = f.get(f.claimOf("customer-2").path + "/reclaim")
			question.wantText("form.dialog", "it gets it a second time")
			f.follow(f.submit(question, "form.dialog", reason)).wantToast("What waits for it goes out now.")
			f.claimOf("customer-2").wantText("#meaning", "Person of Acme reclaimed it")
		})
	}
}

// A fact that is confirmed is sent again for a reason alone, and its delivery and
// event say what became of what reported it again.
func TestRedeliverAConfirmedFact(t *testing.T) {
	t.Parallel()
	f := newTold(t, gateway.OnDoubtResend)
	first := f.report("customer-1")
	f.until(first, "delivered", 1)
	second := f.report("customer-1")
	f.until(second, "suppressed", 0)
	told, again := f.home+"/deliveries/"+first, f.home+"/deliveries/"+second
	p := f.get(again)
	p.wantText(".callout", "Suppressed: the fact is confirmed.")
	if links := p.hrefs(".lede a"); !slices.Contains(links, told) || !slices.Contains(links, f.claimOf("customer-1").path) {
		t.Errorf("the delivery leads to %q", links)
	}
	event := f.get(p.hrefs(".lede a")[0])
	event.wantText("#deliveries", "Told before by dlv_")
	event.wantText("h1 .badge", "Suppressed")
	event.wantText("#deliveries", "The fact had been told before")
	event.wantText("#timeline", "the endpoint had been told before, and was not told again")
	question := f.get(again + "/redeliver")
	question.wantText(".callout", "The receiver gets it a second time")
	if p := f.submit(question, "form.dialog", nil); p.status != http.StatusUnprocessableEntity || p.Find("#override_claim[aria-invalid]").Length() != 1 {
		t.Errorf("without a reason: %d", p.status)
	}
	long := map[string][]string{"override_claim": {strings.Repeat("x", gateway.MaxReason+1)}}
	if p := f.submit(question, "form.dialog", long); p.status != http.StatusUnprocessableEntity || p.Find("#override_claim[aria-invalid]").Length() != 1 {
		t.Errorf("with a long reason: %d", p.status)
	}
	f.follow(f.submit(question, "form.dialog", map[string][]string{"override_claim": {"they lost it"}})).wantToast("It is sent again now.")
	f.until(second, "delivered", 1)
	if n := pgtest.Count(t, f.pool, `SELECT count(*) FROM audit_log WHERE action = 'delivery.redeliver' AND detail = 'they lost it'`); n != 1 {
		t.Errorf("%d entries say why", n)
	}
}

// What waits for a fact that another delivery holds says for which.
func TestDeliveryThatWaits(t *testing.T) {
	t.Parallel()
	f := newTold(t, gateway.OnDoubtHold)
	f.status.Store(http.StatusInternalServerError)
	first := f.report("customer-1")
	f.until(first, "pending", 1)
	f.inDoubt("customer-1")
	second := f.report("customer-1")
	pgtest.Until(t, "it waits", func() bool {
		return f.n.must(200, http.MethodGet, "/deliveries/"+second, nil)["waiting_on"] != nil
	})
	p := f.get(f.home + "/deliveries/" + second)
	p.wantText(".callout", "Waits for a person: nobody knows whether the fact was told.")
	p.wantText(".lede", "Waits for dlv_")
	if p.Find("form[action$='/redeliver']").Length() != 0 {
		t.Error("it can be sent past its turn")
	}
	event := f.get(p.hrefs(".lede a")[0])
	event.wantText("#deliveries", "Waits for dlv_")
	event.wantText("#timeline", "Waits: Loan <desk>")
	claim := f.claimOf("customer-1")
	claim.wantText(".strip", "1 delivery")
	if got := claim.roles(); !slices.Equal(got, []string{"pending waits for it", "retrying holds it"}) {
		t.Errorf("deliveries: %q", got)
	}
	list := f.get(f.home + "/claims?state=lease_ended")
	if got := strings.TrimSpace(list.Find("[id^=waiting-]").Text()); !strings.HasPrefix(got, "1") {
		t.Errorf("%q wait", got)
	}
	overview := f.get(f.home)
	overview.wantText("#stuck", "customer-1")
	if links := overview.hrefs("#stuck li a"); !slices.Contains(links, claim.path) {
		t.Errorf("the overview leads to %q", links)
	}
	f.follow(f.post(f.home+"/deliveries/"+second+"/redeliver", map[string][]string{"if_attempts": {"0"}})).wantToast("Not sent: another delivery of the fact is on its way, or nobody knows whether it arrived")
}

// An event whose fact is confirmed is not told to have gone out again.
func TestRedeliverEventOfAConfirmedFact(t *testing.T) {
	t.Parallel()
	f := newTold(t, gateway.OnDoubtResend)
	id := f.report("customer-1")
	f.until(id, "delivered", 1)
	event := text(f.n.must(200, http.MethodGet, "/deliveries/"+id, nil), "event_id")
	sent := f.post(f.home+"/events/"+event+"/redeliver", map[string][]string{"endpoint": {"all"}})
	f.follow(sent).wantToast("Not sent: no delivery of it goes again by itself")
	left := entries(f.n.must(202, http.MethodPost, "/events/"+event+"/redeliver", nil))
	if len(left) != 1 || left[0]["reopened"] != false || left[0]["left_alone"] != "claim_done" || left[0]["status"] != "delivered" {
		t.Errorf("the API says %v", left)
	}
	f.until(id, "delivered", 1)
}
