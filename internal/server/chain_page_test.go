package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// A disabled endpoint that has a failover holds nothing, and its pages say so.
func TestDisabledEndpointWithFailover(t *testing.T) {
	t.Parallel()
	var sending *deliver.Service
	w := newBundle(t, withPages, withSending(t, &sending)).signedUp(t, "Acme")
	n := w.tenant()
	standby := text(n.must(201, http.MethodPost, "/endpoints", object{"url": receiving(t, 200, ""), "event_types": []string{"other"}}), "id")
	head := text(n.must(201, http.MethodPost, "/endpoints", object{"url": receiving(t, 410, ""), "failover": standby}), "id")
	w.sendOnce(sending, head)
	pgtest.Until(t, "the endpoint is disabled", func() bool {
		return n.must(200, http.MethodGet, "/endpoints/"+head, nil)["state"] == "disabled"
	})
	path := w.home + "/endpoints/" + head
	w.get(path).wantText("#trouble", "What comes in goes to its failover at once.")
	w.sendOnce(sending, head)
	pgtest.Until(t, "its delivery was passed on", func() bool {
		return len(entries(n.must(200, http.MethodGet, "/deliveries?status=delivered&endpoint="+standby, nil))) == 2
	})
	list := w.get(w.home + "/deliveries?endpoint=" + head)
	if text := list.Find("#deliveries tbody").Text(); !strings.Contains(text, "Not sent") || strings.Contains(text, "none yet") {
		t.Errorf("the list says %s", tidy(text))
	}
}
