package server_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// compareAll compares until a reconciliation has ended.
func (n *tenant) compareAll(o object) object {
	n.t.Helper()
	id, err := gateway.ParseID[gateway.ReconciliationID](text(o, "id"))
	if err != nil {
		n.t.Fatal(err)
	}
	if err := n.compare.Run(n.t.Context(), n.account, id); err != nil {
		n.t.Fatal(err)
	}
	return n.must(200, http.MethodGet, "/reconciliations/"+text(o, "id"), nil)
}

// uploaded uploads a list of a type, which must be taken.
func (n *tenant) uploaded(query, mediaType string, list any) object {
	n.t.Helper()
	got := n.upload(query, mediaType, list)
	if got.StatusCode != http.StatusAccepted {
		n.t.Fatalf("%d %s", got.StatusCode, got.text)
	}
	return got.object(n.t)
}

func (n *tenant) upload(query, mediaType string, list any) answer {
	n.t.Helper()
	return n.send(n.t, http.MethodPost, n.url+"/api/v1/reconciliations?since=2026-01-01T00:00:00Z&"+query, list,
		"Authorization", "Bearer "+n.key, "Content-Type", mediaType)
}

// wantFound fails unless a reconciliation tells these numbers.
func wantFound(t *testing.T, o object, state string, want map[string]float64) {
	t.Helper()
	if o["state"] != state {
		t.Errorf("state %v, want %s", o["state"], state)
	}
	for name, n := range want {
		if o[name] != n {
			t.Errorf("%s is %v, want %v", name, o[name], n)
		}
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	endpoint, deliveries := n.withClosed()
	events := make([]string, len(deliveries))
	for i, d := range deliveries {
		events[i] = text(n.must(200, http.MethodGet, "/deliveries/"+d, nil), "event_id")
	}
	list := "\uFEFFno;webhook-id;type\r\n1;" + events[0] + ";x\r\n2;" + events[0] + ";x\r\n3;evt_06h1m3v9c8x7k2q5n4t6w8y0za;x\r\n4;nonsense;x\r\n"
	o := n.uploaded("endpoint=e&match=event&name=july.csv", "text/csv; charset=utf-8", list)
	wantFound(t, o, "comparing", map[string]float64{"rows": 3, "faulty": 1})
	if o["endpoint_id"] != endpoint || o["name"] != "july.csv" || o["match"] != "event" || o["with_type"] != false || o["uploaded_at"] == nil || o["finished_at"] != nil {
		t.Errorf("%v", o)
	}
	path := "/reconciliations/" + text(o, "id")
	n.refused(409, "state_changed", http.MethodPost, path+"/redeliver", nil)
	o = n.compareAll(o)
	wantFound(t, o, "done", map[string]float64{"matched": 1, "repeated": 1, "unknown": 1, "compared": 4, "missing": 3, "sendable": 3, "unnamed": 0})
	if reasons := o["missing_reasons"].(object); len(reasons) != 2 || reasons["cancelled"] != 2.0 || reasons["never_created"] != 1.0 {
		t.Errorf("reasons %v", reasons)
	}
	n.wantRows(path, events, deliveries)
	n.refused(409, "state_changed", http.MethodPost, path+"/cancel", nil)
	n.wantReport(path, events)

	operation := n.work(n.must(202, http.MethodPost, path+"/redeliver", nil))
	wantOperation(t, operation, "reconcile", "done", 3, 3, 0)
	if filter := operation["filter"].(object); filter["reconciliation"] != o["id"] || filter["endpoint"] != endpoint {
		t.Errorf("filter %v", filter)
	}
	wantOperation(t, n.work(n.must(202, http.MethodPost, path+"/redeliver", object{"dry_run": true})), "reconcile", "done", 0, 0, 0)

	if all := entries(n.must(200, http.MethodGet, "/reconciliations?limit=1", nil)); len(all) != 1 || all[0]["id"] != o["id"] {
		t.Errorf("list %v", all)
	}
	n.must(204, http.MethodDelete, path, nil)
	n.refused(404, "not_found", http.MethodGet, path, nil)
	n.refused(404, "not_found", http.MethodDelete, path, nil)
	if all := entries(n.must(200, http.MethodGet, "/reconciliations", nil)); len(all) != 0 {
		t.Errorf("list %v", all)
	}
}

// wantRows fails unless each list has what was planted.
func (n *tenant) wantRows(path string, events, deliveries []string) {
	n.t.Helper()
	for query, want := range map[string]string{
		"result=missing&limit=1": fmt.Sprintf("missing cancelled <nil> %s %s true <nil>", events[2], deliveries[2]),
		"reason=never_created":   "missing never_created <nil> * <nil> true no_endpoints",
		"result=matched":         fmt.Sprintf("matched unconfirmed 2 %s %s <nil> <nil>", events[0], deliveries[0]),
		"result=repeated":        "repeated <nil> 3 <nil> <nil> <nil> <nil>",
		"result=unknown":         "unknown no_event 4 <nil> <nil> <nil> <nil>",
		"result=faulty":          "faulty <nil> 5 <nil> <nil> <nil> <nil>",
	} {
		list := n.must(200, http.MethodGet, path+"/rows?"+query, nil)
		all := entries(list)
		if len(all) != 1 {
			n.t.Errorf("%s: %v", query, all)
			continue
		}
		event := fmt.Sprint(all[0]["event_id"])
		if strings.Contains(want, "*") {
			event = "*"
		}
		r := all[0]
		got := fmt.Sprint(r["result"], " ", r["reason"], " ", r["line"], " ", event, " ", r["delivery_id"], " ", r["sendable"], " ", r["event_status"])
		if got != want {
			n.t.Errorf("%s: %s, want %s", query, got, want)
		}
		if more := list["next_cursor"] != nil; more != strings.Contains(query, "limit=1") {
			n.t.Errorf("%s: more of it: %t", query, more)
		}
	}
	n.wantNextPart(path)
	n.refused(422, "invalid", http.MethodGet, path+"/rows?result=matched&reason=failed", nil)
	n.refused(422, "invalid_cursor", http.MethodGet, path+"/rows?result=matched&cursor=x", nil)
}

// wantNextPart fails unless what is missing goes on where its part ended.
func (n *tenant) wantNextPart(path string) {
	n.t.Helper()
	first := n.must(200, http.MethodGet, path+"/rows?limit=2", nil)
	rest := n.must(200, http.MethodGet, path+"/rows?limit=2&cursor="+text(first, "next_cursor"), nil)
	if len(entries(first)) != 2 || len(entries(rest)) != 1 || rest["next_cursor"] != nil {
		n.t.Errorf("parts %v and %v", first, rest)
	}
}

func (n *tenant) wantReport(path string, events []string) {
	n.t.Helper()
	got := n.call(http.MethodGet, path+"/report", nil)
	lines := strings.Split(strings.TrimSpace(string(got.text)), "\n")
	if got.StatusCode != 200 || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/csv") || !strings.Contains(got.Header.Get("Content-Disposition"), "attachment") {
		n.t.Errorf("%d %v", got.StatusCode, got.Header)
	}
	if len(lines) != 8 || lines[0] != "result,reason,line,key,type,event_id,delivery_id,detail" ||
		!strings.HasPrefix(lines[1], "missing,cancelled,,"+events[2]) || !strings.HasPrefix(lines[7], "matched,unconfirmed,2,"+events[0]) {
		n.t.Errorf("report:\n%s", got.text)
	}
}

func TestListsComeAsNDJSONAndCompressed(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1,"subject":"s1"}`)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte("{\"who\":\"s1\",\"what\":\"a.b\"}\n{\"who\":\"s2\",\"what\":\"a.b\"}"))
	_ = w.Close()
	o := n.uploaded("endpoint=e&match=subject&key_column=who&type_column=what", "application/x-ndjson", packed.Bytes())
	wantFound(t, n.compareAll(o), "done", map[string]float64{"rows": 2, "unknown": 2, "compared": 1, "missing": 0})
}

func TestUploadsAreChecked(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	for _, c := range []struct{ query, mediaType, at string }{
		{"endpoint=nobody&match=key", "text/csv", "query.endpoint"},
		{"endpoint=&match=key", "text/csv", "query.endpoint"},
		{"match=key", "text/csv", "query.endpoint"},
		{"endpoint=e", "text/csv", "query.match"},
		{"endpoint=e&match=body", "text/csv", "query.match"},
		{"endpoint=e&match=key&until=2020-01-01T00:00:00Z", "text/csv", "query.until"},
		{"endpoint=e&match=key&key_column=%00", "text/csv", "query.key_column"},
		{"endpoint=e&match=key", "application/x-www-form-urlencoded", "header.Content-Type"},
		{"endpoint=e&match=key", "", "header.Content-Type"},
	} {
		p := checkProblem(t, n.upload(c.query, c.mediaType, "k\n"), 422, "invalid")
		if at := fmt.Sprint(p["errors"].([]any)[0].(object)["location"]); at != c.at {
			t.Errorf("%s: at %s, want %s", c.query, at, c.at)
		}
	}
	if all := entries(n.must(200, http.MethodGet, "/reconciliations", nil)); len(all) != 0 {
		t.Errorf("they were made all the same: %v", all)
	}
	checkProblem(t, n.send(t, http.MethodPost, n.url+"/api/v1/reconciliations?since=2026-01-01T00:00:00Z&endpoint=e&match=key", "k\n",
		"Authorization", "Bearer "+n.key, "Content-Type", "text/csv", "Content-Encoding", "br"), 415, "content_encoding_refused")
}

// A list that cannot be read is refused, and what was begun says why.
func TestAListThatCannotBeRead(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	p := checkProblem(t, n.upload("endpoint=e&match=key&header=false", "text/csv", "a\n\"b\n"), 422, "list_unreadable")
	const why = "The quote that opens in line 2 is never closed."
	if p["detail"] != why {
		t.Errorf("detail %v", p["detail"])
	}
	all := entries(n.must(200, http.MethodGet, "/reconciliations", nil))
	if len(all) != 1 || all[0]["state"] != "failed" || all[0]["fault"] != why || all[0]["finished_at"] == nil {
		t.Errorf("%v", all)
	}
}

// A list whose rows are gone does not look like one in which nothing was found.
func TestRowsThatAreGoneAreToldAsGone(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	o := n.compareAll(n.uploaded("endpoint=e&match=key&header=false", "text/csv", "a\nb\n"))
	path := "/reconciliations/" + text(o, "id")
	err := n.store.InTx(t.Context(), func(tx store.Tx) error {
		for more := true; more; {
			var err error
			if more, err = tx.EmptyReconciliation(t.Context(), time.Now().Add(time.Hour), 100); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	n.refused(410, "expired", http.MethodGet, path+"/rows?result=unknown", nil)
	n.refused(410, "expired", http.MethodGet, path+"/report", nil)
	n.refused(409, "state_changed", http.MethodPost, path+"/redeliver", nil)
	if o = n.must(200, http.MethodGet, path, nil); o["unknown"] != 2.0 || o["emptied_at"] == nil {
		t.Errorf("%v; want the numbers", o)
	}
}
