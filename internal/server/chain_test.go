package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestFailoverInTheAPI(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	last := text(n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "last"}), "id")
	made := n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "first", "failover": "last"})
	if made["failover"] != last {
		t.Errorf("failover %v, want %s", made["failover"], last)
	}
	const says = "would make a loop: last → first → last"
	wrong := n.refused(422, "invalid", http.MethodPatch, "/endpoints/last", object{"failover": made["id"]})
	if at, detail := firstError(wrong); at != "failover" || !strings.Contains(detail, says) {
		t.Errorf("%v, want %s", wrong, says)
	}
	theirs := text(b.newTenant(t).must(201, http.MethodPost, "/endpoints", object{"url": somewhere}), "id")
	for _, next := range []string{"last", theirs, "nobody", gateway.EndpointID{1}.String()} {
		wrong := n.refused(422, "invalid", http.MethodPatch, "/endpoints/last", object{"failover": next})
		if at, _ := firstError(wrong); at != "failover" {
			t.Errorf("%s: %v", next, wrong)
		}
	}
	if got := n.must(200, http.MethodPatch, "/endpoints/first", object{"failover": nil}); got["failover"] != nil {
		t.Errorf("failover %v, want none", got["failover"])
	}
	n.must(200, http.MethodPatch, "/endpoints/last", object{"failover": "first"})
}

// firstError is where the first mistake of an answer is, and what it says.
func firstError(problem object) (field, detail string) {
	errs, ok := problem["errors"].([]any)
	if !ok || len(errs) == 0 {
		return "", text(problem, "detail")
	}
	first, _ := errs[0].(object)
	return strings.TrimPrefix(text(first, "location"), "body."), text(first, "message")
}

// A schedule is kept as it was given, or refused: never cut.
func TestLongSchedulesAreKeptOrRefused(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	for _, waits := range []int{40, gateway.MaxScheduleLength} {
		schedule := slices.Repeat([]any{"1m30s"}, waits)
		id := text(n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "retry_schedule": schedule}), "id")
		if got := n.must(200, http.MethodGet, "/endpoints/"+id, nil)["retry_schedule"]; !slices.Equal(got.([]any), schedule) {
			t.Errorf("%d waits became %v", waits, got)
		}
		p := w.addEndpoint(url.Values{"url": {somewhere}, "retry_schedule": {strings.Repeat("1m30s ", waits)}})
		if got := n.must(200, http.MethodGet, "/endpoints/"+lastPart(pathOf(p)), nil)["retry_schedule"]; !slices.Equal(got.([]any), schedule) {
			t.Errorf("%d waits became %v in the form", waits, got)
		}
	}
	tooMany := slices.Repeat([]any{"1s"}, gateway.MaxScheduleLength+1)
	n.refused(422, "invalid", http.MethodPost, "/endpoints", object{"url": somewhere, "retry_schedule": tooMany})
	p := w.submit(w.get(w.home+"/endpoints/new"), "form#endpoint", url.Values{
		"url": {somewhere}, "retry_schedule": {strings.Repeat("1s ", gateway.MaxScheduleLength+1)},
	})
	p.wantStatus(http.StatusUnprocessableEntity)
	p.wantText("#retry_schedule-error", "50")
}

func lastPart(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// What failed over is told by the API and on the pages of the event and of both
// deliveries.
func TestFailoversAreShown(t *testing.T) {
	t.Parallel()
	var sending *deliver.Service
	w := newBundle(t, withPages, withSending(t, &sending)).signedUp(t, "Acme")
	n := w.tenant()
	bad := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(bad.Close)
	good := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(good.Close)
	standby := text(n.must(201, http.MethodPost, "/endpoints", object{"url": good.URL, "description": "Standby", "event_types": []string{"other"}}), "id")
	head := text(n.must(201, http.MethodPost, "/endpoints", object{
		"url": bad.URL, "description": "Billing", "retry_schedule": []string{}, "failover": standby,
	}), "id")
	w.sendOnce(sending, head)
	var given object
	pgtest.Until(t, "the standby got it", func() bool {
		listed := n.must(200, http.MethodGet, "/deliveries?status=delivered&endpoint="+standby, nil)["data"].([]any)
		if len(listed) == 1 {
			given = listed[0].(object)
		}
		return given != nil
	})
	if given["failover_of"] != head {
		t.Errorf("delivery %v, want it in place of %s", given, head)
	}
	failed := n.must(200, http.MethodGet, "/deliveries?status=failed&endpoint="+head, nil)["data"].([]any)[0].(object)
	if failed["failover_of"] != nil || failed["failover_to"] != standby {
		t.Errorf("%v", failed)
	}
	to, from := w.home+"/deliveries/"+text(given, "id"), w.home+"/deliveries/"+text(failed, "id")
	event := w.get(w.home + "/events/" + text(given, "event_id"))
	event.wantText("#"+text(failed, "id")+" [data-failover]", "Failed over to Standby")
	event.wantText("#"+text(given, "id")+" [data-failover]", "Failover for Billing")
	event.wantText("#timeline", "In place of Billing, which could not be given it.")
	for path, other := range map[string]string{from: to, to: from} {
		if p := w.get(path); p.Find(`a[data-failover][href="`+other+`"]`).Length() != 1 {
			t.Errorf("%s does not lead to %s", path, other)
		}
	}
	w.get(from).wantText("#delivery-head", "Standby has the event in its place.")
	event.wantText("#event-head", "Delivered")
	event.wantText("#deliveries .card-head", "by failover")
	if list := w.get(w.home + "/events").Find("#events tbody").Text(); strings.Contains(list, "Failed") || !strings.Contains(list, "1/1") {
		t.Error("the list counts as failed what the standby has")
	}
}
