package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// An account's channel: its address is shown to nobody once it is set, admins
// alone change it, and what it answers to a test is told.
func TestAlertChannelPage(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(chat.Close)
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	at := w.home + "/settings/alerts"
	p := w.get(at)
	if p.Find("#channel-host, #test-channel").Length() != 0 || p.Find("#channel-kinds input[checked]").Length() != 4 {
		t.Errorf("without a channel: %s", wordsOf(p))
	}
	bad := w.submit(p, "#set-channel", url.Values{"url": {"https://10.1.2.3/x"}, "kinds": {"claim.doubtful"}})
	bad.wantStatus(http.StatusUnprocessableEntity)
	if bad.Find("#channel-url-error").Length() != 1 || bad.Find("#channel-kinds input[checked]").Length() != 1 || bad.Find("#kinds input[checked]").Length() != 4 {
		t.Errorf("a forbidden address: %s", bad.Find("#channel").Text())
	}
	w.submit(p, "#set-channel", url.Values{"url": {chat.URL + "/sesame"}, "kinds": {}}).wantStatus(http.StatusUnprocessableEntity)
	p = w.follow(w.submit(p, "#set-channel", url.Values{"url": {chat.URL + "/sesame"}, "kinds": {"claim.doubtful"}}))
	p.wantToast("Saved")
	p.wantText("#channel-host", "127.0.0.1:")
	if strings.Contains(p.text, "sesame") {
		t.Error("the address is shown")
	}
	w.follow(w.submit(p, "#test-channel", nil)).wantToast("The test was posted")
	status = http.StatusNotFound
	w.follow(w.submit(p, "#test-channel", nil)).wantToast("answered 404 Not Found")

	viewer := w.newMemberAs(gateway.RoleOperator)
	p = viewer.get(at)
	p.wantText("#channel-host", "127.0.0.1:")
	if p.Find("#set-channel, #test-channel").Length() != 0 {
		t.Error("an operator is offered to change the channel")
	}
	w.follow(w.submit(w.get(at+"/channel/remove"), "form.dialog", nil)).wantToast("The channel was removed")
	w.follow(w.post(at+"/channel/remove", nil)).wantToast("No channel is set")
	w.follow(w.post(at+"/channel/test", nil)).wantToast("No channel is set")
}
