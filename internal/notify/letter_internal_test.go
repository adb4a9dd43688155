package notify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

var (
	billing = gateway.EndpointID{15: 1}
	morning = time.Date(2026, 7, 1, 10, 4, 31, 0, time.UTC)
	noon    = time.Date(2026, 7, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
)

// newSceneOf is a scene of the endpoint that waiting deliveries wait for.
func newSceneOf(waiting int) scene {
	return newScene("https://hooks.example.com", store.Scene{
		Account:  gateway.Account{Name: "Acme", Slug: "acme"},
		Endpoint: store.EndpointLabel{URL: "https://user:pass@billing.example.com/in?token=secret#x", Description: "Billing"},
		Waiting:  waiting,
	}, news{endpoint: &billing})
}

// letters are one of each kind, by the name of the file that holds its text.
func letters() map[string]letter {
	elsewhere := newScene("https://hooks.example.com", store.Scene{Account: gateway.Account{Name: "Acme", Slug: "acme"}}, news{})
	rejected := gateway.LastCauseOf(gateway.Cause{StatusCode: 503})
	return map[string]letter{
		"disabled": endpointDisabled(newSceneOf(1000), gateway.EndpointDisabledData{
			Reason: "100 failures in a row", DisabledAt: noon, FailingSince: &morning, LastCause: rejected,
		}),
		"disabled_failover": endpointDisabled(newScene("https://hooks.example.com", store.Scene{
			Account: gateway.Account{Name: "Acme", Slug: "acme"}, Endpoint: store.EndpointLabel{URL: "https://billing.example.com/in", Description: "Billing"},
			FailsOver: true, Waiting: 3,
		}, news{endpoint: &billing}), gateway.EndpointDisabledData{
			Reason: "100 failures in a row", DisabledAt: noon, FailingSince: &morning, LastCause: rejected,
		}),
		"disabled_gone": endpointDisabled(newSceneOf(0), gateway.EndpointDisabledData{
			Reason: "the receiver answered 410 Gone", DisabledAt: noon, LastCause: gateway.LastCauseOf(gateway.Cause{StatusCode: 410}),
		}),
		"failing": endpointFailing(newSceneOf(999), gateway.EndpointFailingData{
			Percent: 90, Failures: 90, DisableAfter: 100, FailingSince: morning,
			LastCause: gateway.LastCauseOf(gateway.Cause{ErrorKind: gateway.ErrorTimeout}),
		}),
		"failed":  deliveriesFailed(newSceneOf(0), store.Digest{Failed: 23, Causes: map[string]int64{"503": 20, "timeout": 3}, Since: morning}),
		"failed1": deliveriesFailed(newSceneOf(0), store.Digest{Failed: 1, Causes: map[string]int64{"dns": 1}, Since: morning}),
		"expired": deliveriesExpired(elsewhere, gateway.DeliveryExpiredData{Day: "2026-06-01", Deliveries: 1234567, ExpiredAt: noon}),
		"doubtful": claimDoubtful(newSceneOf(0), gateway.ClaimDoubtfulData{
			ClaimID: gateway.ClaimID{15: 4}, EventType: "credit.checked", Subject: "customer-1001", OnDoubt: gateway.OnDoubtResend, LeaseExpiredAt: noon,
		}),
		"doubtful_hold": claimDoubtful(newSceneOf(0), gateway.ClaimDoubtfulData{
			ClaimID: gateway.ClaimID{15: 5}, EventType: "credit.checked", Subject: "customer-1001", OnDoubt: gateway.OnDoubtHold, LeaseExpiredAt: noon,
		}),
		"operation": operationDone(elsewhere, gateway.OperationDoneData{
			ID: gateway.OperationID{15: 2}, Kind: "recover_failed", State: "done", Total: 5210, Done: 5200, Failed: 10,
		}),
		"key":               keyEnds(elsewhere, gateway.APIKey{Name: "Warehouse\nimport", Hint: "x7kq", EndsAt: &noon, LastUsedAt: &morning}),
		"operation_stopped": operationDone(elsewhere, gateway.OperationDoneData{ID: gateway.OperationID{15: 3}, Kind: "reprocess", State: "cancelled", Total: 7, Done: 3}),
	}
}

// The letters are read by people: testdata holds them as they come.
// UPDATE=1 go test writes them anew.
func TestLetters(t *testing.T) {
	t.Parallel()
	for name, l := range letters() {
		path, got := filepath.Join("testdata", name+".txt"), "Subject: "+l.subject+"\n\n"+l.body
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, secret := range []string{"token", "user:pass", "#x"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s tells %q", name, secret)
			}
		}
		if !strings.HasSuffix(got, "\n\nhttps://hooks.example.com/a/acme/settings/alerts\n") {
			t.Errorf("%s does not say how to stop it", name)
		}
	}
}

// Whatever an account, an endpoint or a job is called, a letter's subject is one
// line, and nothing in the body looks like another line.
func TestLettersOfHostileTexts(t *testing.T) {
	t.Parallel()
	hostile := "Acme\r\nBcc: eve@example.com\x00\x1b[2J\u202egpj\u2066\u200b\u2028<b>\xff" + strings.Repeat("x", 10_000)
	sc := newScene("https://hooks.example.com", store.Scene{
		Account:  gateway.Account{Name: hostile, Slug: hostile},
		Endpoint: store.EndpointLabel{URL: "https://billing.example.com/\u202e" + strings.Repeat("y", 10_000), Description: hostile},
	}, news{endpoint: &billing})
	for name, l := range map[string]letter{
		"disabled":  endpointDisabled(sc, gateway.EndpointDisabledData{Reason: hostile, LastCause: gateway.LastCause{ErrorKind: gateway.ErrorKind(hostile)}}),
		"failing":   endpointFailing(sc, gateway.EndpointFailingData{LastCause: gateway.LastCause{ErrorKind: gateway.ErrorKind(hostile)}}),
		"failed":    deliveriesFailed(sc, store.Digest{Failed: 1, Causes: map[string]int64{hostile: 1}}),
		"expired":   deliveriesExpired(sc, gateway.DeliveryExpiredData{Day: hostile}),
		"doubtful":  claimDoubtful(sc, gateway.ClaimDoubtfulData{EventType: hostile, Subject: hostile, OnDoubt: gateway.OnDoubt(hostile)}),
		"operation": operationDone(sc, gateway.OperationDoneData{Kind: gateway.OperationKind(hostile), State: gateway.OperationState(hostile)}),
	} {
		if strings.ContainsFunc(l.subject, func(r rune) bool { return !unicode.IsGraphic(r) }) || len([]rune(l.subject)) > 250 {
			t.Errorf("%s: subject %q", name, l.subject)
		}
		if strings.ContainsFunc(l.body, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }) || strings.Contains(l.body, "\nBcc") || len(l.body) > 50_000 {
			t.Errorf("%s: body %q", name, l.body[:min(len(l.body), 1000)])
		}
	}
	if got := oneLine(" a \t\n b ", 9); got != "a b" {
		t.Errorf("%q", got)
	}
}

func TestNewsThatNobodyCanRead(t *testing.T) {
	t.Parallel()
	for _, a := range []store.Alert{{Type: "rowlock.other"}, {Type: gateway.TypeEndpointDisabled, Data: []byte(`{`)}, {Type: gateway.TypeOperationDone, Data: []byte(`[]`)}} {
		if n, err := newsOf(a); err == nil {
			t.Errorf("%+v is %+v", a, n)
		}
	}
}
