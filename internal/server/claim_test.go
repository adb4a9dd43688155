package server_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	ask := object{"scope": "mails", "key": "cus_1", "lease": "30s", "holder": "w1"}
	c := n.must(201, http.MethodPost, "/claims", ask)
	if c["state"] != "in_progress" || c["fence"] != 1.0 || c["holder"] != "w1" || c["on_doubt"] != "resend" || c["lease_expires_at"] == nil {
		t.Errorf("claimed %v", c)
	}
	held := n.call(http.MethodPost, "/claims", ask)
	checkProblem(t, held, http.StatusConflict, "claim_in_progress")
	if wait, err := strconv.Atoi(held.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 30 {
		t.Errorf("Retry-After %q", held.Header.Get("Retry-After"))
	}
	at := "/claims/" + text(c, "id")
	n.must(200, http.MethodPost, at+"/extend", object{"fence": 1, "lease": "1h"})
	n.refused(409, "fence_stale", http.MethodPost, at+"/complete", object{"fence": 2})
	const result = `{"sent":9007199254740993,"to":"a<b>&c"}`
	done := n.call(http.MethodPost, at+"/complete", `{"fence":1,"result":`+result+`}`)
	if done.StatusCode != 200 || !strings.Contains(string(done.text), result) {
		t.Errorf("completed: %d %s", done.StatusCode, done.text)
	}
	again := n.call(http.MethodPost, "/claims", ask)
	if again.StatusCode != 200 || !strings.Contains(string(again.text), result) {
		t.Errorf("claimed when it is done: %d %s", again.StatusCode, again.text)
	}
	n.refused(409, "fence_stale", http.MethodPost, at+"/release", object{"fence": 1})
	n.refused(409, "state_changed", http.MethodPost, at+"/resolve", object{"fence": 1, "reason": "x"})
}

func TestClaimAnswerWasLost(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	const ask = `{"scope":"mails","key":"cus_1","lease":"30s"}`
	for range 2 {
		got := n.call(http.MethodPost, "/claims", ask, "Idempotency-Key", "call-1")
		if got.StatusCode != 201 || !strings.Contains(string(got.text), `"fence":1,`) {
			t.Errorf("%d %s", got.StatusCode, got.text)
		}
	}
	checkProblem(t, n.call(http.MethodPost, "/claims", ask, "Idempotency-Key", "call-2"), http.StatusConflict, "claim_in_progress")
}

func TestClaimStepIn(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	ask := object{"scope": "mails", "key": "cus_1", "lease": "1h"}
	at := "/claims/" + text(n.must(201, http.MethodPost, "/claims", ask), "id")
	n.refused(409, "state_changed", http.MethodPost, at+"/reclaim", object{"fence": 7, "reason": "x"})
	if free := n.must(200, http.MethodPost, at+"/reclaim", object{"fence": 1, "reason": "killed"}); free["state"] != "released" {
		t.Errorf("reclaimed %v", free)
	}
	if next := n.must(201, http.MethodPost, "/claims", ask); next["fence"] != 2.0 {
		t.Errorf("claimed again %v", next)
	}
	n.refused(409, "fence_stale", http.MethodPost, at+"/resolve", object{"fence": 1, "reason": "x"})
	n.must(200, http.MethodPost, at+"/resolve", object{"fence": 2, "reason": "by phone"})
	c := n.must(200, http.MethodGet, at, nil)
	holders := c["holders"].([]any)
	if c["state"] != "done" || len(holders) != 2 {
		t.Fatalf("%v", c)
	}
	for i, want := range []object{{"fence": 2.0, "ended": "resolved", "reason": "by phone"}, {"fence": 1.0, "ended": "reclaimed", "reason": "killed"}} {
		for field, value := range want {
			if got := holders[i].(object)[field]; got != value {
				t.Errorf("holder %d: %s is %v, want %v", i, field, got, value)
			}
		}
	}
}

func TestClaimLists(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for _, key := range []string{"a", "b"} {
		n.must(201, http.MethodPost, "/claims", object{"scope": "mails", "key": key, "lease": "1h"})
	}
	c := n.must(201, http.MethodPost, "/claims", object{"scope": "charges", "key": "a", "lease": "1h"})
	n.must(200, http.MethodPost, "/claims/"+text(c, "id")+"/complete", object{"fence": 1})
	for query, want := range map[string]int{
		"": 3, "scope=mails": 2, "key=a": 2, "state=done": 1, "state=in_progress": 2, "state=released": 0, "stuck=true": 0, "subject=a": 0, "scope=mails&key=b": 1,
	} {
		if got := entries(n.must(200, http.MethodGet, "/claims?"+query, nil)); len(got) != want {
			t.Errorf("%q: %d claims, want %d", query, len(got), want)
		}
	}
	n.refused(422, "invalid", http.MethodGet, "/claims?stuck=true&state=done", nil)
	n.refused(422, "invalid", http.MethodGet, "/claims?state=lost", nil)
	n.refused(422, "invalid", http.MethodGet, "/claims?key=%00", nil)
}

func TestClaimFaults(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for body, place := range map[string]string{
		`{"key":"k","lease":"1s"}`:                                             "body.scope",
		`{"scope":"s","lease":"1s"}`:                                           "body.key",
		`{"scope":"s","key":"k"}`:                                              "body.lease",
		`{"scope":"s","key":"k","lease":"25h"}`:                                "body.lease",
		`{"scope":"ep_06h1m3v9c8x7k2q5n4t6w8y0za","key":"k","lease":"1s"}`:     "body.scope",
		`{"scope":"s","key":"k","lease":"1s","fence":1}`:                       "body.fence",
		`{"scope":"s","key":"k","lease":"1s","holder":"a\u0000b"}`:             "body.holder",
		`{"scope":"s","key":"` + strings.Repeat("k", 1025) + `","lease":"1s"}`: "body.key",
	} {
		got := n.call(http.MethodPost, "/claims", body)
		if got.StatusCode != 422 || !strings.Contains(string(got.text), `"location":"`+place+`"`) {
			t.Errorf("%.60s: %d %s", body, got.StatusCode, got.text)
		}
	}
	checkProblem(t, n.call(http.MethodPost, "/claims", `{"scope":"s","key":"k","lease":"1s"}`, "Idempotency-Key", "\xff"), 422, "invalid")
	at := "/claims/" + text(n.must(201, http.MethodPost, "/claims", object{"scope": "s", "key": "k", "lease": "1h"}), "id")
	n.refused(422, "invalid", http.MethodPost, at+"/complete", `{"fence":1,"result":"`+strings.Repeat("r", 64<<10)+`"}`)
	n.refused(422, "invalid", http.MethodPost, at+"/reclaim", `{}`)
}
