package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// What Rowlock itself listens on, and its database, are closed to deliveries
// inside of a network that is allowed: by address and by name.
func TestOwnListenersAreNeverReached(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, shared)
	n := startNode(t, onDatabase(t, d))
	a := newAccount(t, n)
	metrics := ""
	for _, setting := range n.environ {
		if address, ok := strings.CutPrefix(setting, "ROWLOCK_METRICS_LISTEN="); ok {
			metrics = "http://" + address
		}
	}
	for name, own := range map[string]string{"listener": n.url, "metrics": metrics, "database": fmt.Sprintf("http://127.0.0.1:%d", d.cluster.port)} {
		u, err := url.Parse(own)
		if err != nil || u.Port() == "" {
			t.Fatalf("%s is at %q: %v", name, own, err)
		}
		type problem struct{ Code, Detail string }
		refused := want[problem](t, a, http.StatusUnprocessableEntity, http.MethodPost, "/endpoints", fmt.Sprintf(`{"url":%q}`, own))
		if refused.Code != "url_address_forbidden" || !strings.Contains(refused.Detail, "own listeners and its database") {
			t.Errorf("%s: %+v", name, refused)
		}
		named := want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints", fmt.Sprintf(`{"url":"http://localhost:%s/"}`, u.Port()))
		type attempt struct {
			ErrorKind string `json:"error_kind"`
			Detail    string
		}
		sent := want[attempt](t, a, http.StatusOK, http.MethodPost, "/endpoints/"+named.ID+"/test", "")
		if sent.ErrorKind != "blocked" || !strings.Contains(sent.Detail, "own listeners and its database") {
			t.Errorf("%s by name: %+v", name, sent)
		}
	}
}
