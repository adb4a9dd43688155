package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// newDelivery makes a delivery that waits for its first attempt.
func (n *tenant) newDelivery(endpoint string) object {
	n.t.Helper()
	id := n.publish(`{"type":"a.b","data":1}`)
	n.process(n.t, id)
	list := entries(n.must(200, http.MethodGet, "/deliveries?event="+id+"&endpoint="+endpoint, nil))
	if len(list) != 1 {
		n.t.Fatalf("deliveries: %v", list)
	}
	return list[0]
}

func TestDeliveryLife(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	d := n.newDelivery("e")
	path := "/deliveries/" + text(d, "id")
	if d["status"] != "pending" || d["attempt_count"] != 0.0 || d["last_outcome"] != nil || d["created_at"] == nil {
		t.Errorf("%v", d)
	}
	detail := n.must(200, http.MethodGet, path, nil)
	if attempts, ok := detail["attempts"].([]any); !ok || len(attempts) != 0 {
		t.Errorf("%v", detail)
	}
	n.refused(409, "delivery_changed", http.MethodPost, path+"/redeliver", `{"if_attempts":3}`)
	n.must(202, http.MethodPost, path+"/redeliver", `{"if_attempts":0}`)
	n.must(202, http.MethodPost, path+"/redeliver", nil)
	if got := n.must(200, http.MethodPost, path+"/cancel", nil); got["status"] != "cancelled" || got["closed_at"] == nil {
		t.Errorf("%v", got)
	}
	n.refused(409, "delivery_changed", http.MethodPost, path+"/redeliver", fmt.Sprintf(`{"if_attempts":%d}`, gateway.MaxAttempts))
	for _, seen := range []string{`"3"`, "-1", "99999999999", "1.5", "1e3", fmt.Sprint(gateway.MaxAttempts + 1)} {
		p := n.refused(422, "invalid", http.MethodPost, path+"/redeliver", `{"if_attempts":`+seen+`}`)
		if text(p, "detail") != "body.if_attempts: want a whole number from 0 to 65535" {
			t.Errorf("%s: %v", seen, p)
		}
	}
	n.refused(422, "invalid", http.MethodPost, path+"/redeliver", `{"override_claim":"`+strings.Repeat("x", gateway.MaxReason+1)+`"}`)
	n.refused(422, "invalid", http.MethodPost, path+"/redeliver", `{"override":"x"}`)
}

func TestDeliveryFilters(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	ep := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	first := text(n.newDelivery("e"), "id")
	second := text(n.newDelivery(text(ep, "id")), "id")
	n.must(200, http.MethodPost, "/deliveries/"+first+"/cancel", nil)
	check := func(query string, want ...string) {
		t.Helper()
		if got := ids(entries(n.must(200, http.MethodGet, "/deliveries?"+query, nil))); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	check("endpoint=e", second, first)
	check("status=pending", second)
	check("status=cancelled", first)
	check("outcome=rejected")
	n.must(200, http.MethodPost, "/endpoints/e/pause", nil)
	check("status=pending")
	check("status=held", second)
}

func TestAttemptsInParts(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	var want []string
	for range 5 {
		want = append(want, text(n.must(200, http.MethodPost, "/endpoints/e/test", nil), "id"))
	}
	slices.Reverse(want)
	var got []string
	for cursor := ""; ; {
		part := n.must(200, http.MethodGet, "/attempts?endpoint=e&outcome=unreachable&limit=2&cursor="+cursor, nil)
		got = append(got, ids(entries(part))...)
		if part["next_cursor"] == nil {
			break
		}
		cursor = text(part, "next_cursor")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	attempt := n.must(200, http.MethodGet, "/attempts/"+want[0], nil)
	if attempt["error_kind"] != "connect" || attempt["status_code"] != nil {
		t.Errorf("%v", attempt)
	}
	if of := entries(n.must(200, http.MethodGet, "/attempts?delivery="+text(attempt, "delivery_id"), nil)); len(of) != 1 {
		t.Errorf("%v", of)
	}
}
