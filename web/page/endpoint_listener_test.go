package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// listenedFor is the page of an endpoint that has no address.
func listenedFor(l page.EndpointListener) page.Endpoint {
	v := endpointView()
	v.Endpoint.Kind, v.Endpoint.URL, v.Endpoint.Description = gateway.EndpointListen, "", ""
	l.Server, l.Name = "https://rowlock.example.com", "laptop"
	v.Listener = l
	return v
}

func TestEndpointPageOfAListener(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		listener page.EndpointListener
		badge    string
		status   string
	}{
		"nobody yet": {page.EndpointListener{}, "Nobody listens", "Nobody has listened yet."},
		"connected": {
			page.EndpointListener{Ever: true, Connected: true, Host: "jo-laptop", ConnectedAt: endpointNow.Add(-time.Hour)},
			"Connected", "Connected from jo-laptop since 15:20 UTC.",
		},
		"gone": {
			page.EndpointListener{Ever: true, Host: "jo-laptop", SeenAt: endpointNow.Add(-90 * time.Second)},
			"Nobody listens", "Nobody listens. jo-laptop was heard last, 1m 30s ago.",
		},
		"hostile": {
			page.EndpointListener{Ever: true, Connected: true, Host: "\u202e<script>", ConnectedAt: endpointNow},
			"Connected", "<script>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := drawn(t, page.EndpointPage(listenedFor(tt.listener)))
			wantWords(t, doc, "#listener .card-head", tt.badge)
			wantWords(t, doc, "#listener-status", tt.status)
			wantWords(t, doc, "#listener", "rowlock listen --endpoint laptop --forward-to http://localhost:3000/")
			wantWords(t, doc, "#listener", "ROWLOCK_SERVER=https://rowlock.example.com")
			wantWords(t, doc, "h1", "rowlock listen")
			if strings.Contains(doc.Text(), "\u202e") || doc.Find("#listener script").Length() > 0 {
				t.Error("a host's name does what it says")
			}
		})
	}
	wantNumber(t, drawn(t, page.EndpointPage(endpointView())), "#listener", 0)
}

func TestEndpointFormOfAListener(t *testing.T) {
	t.Parallel()
	f := endpointForm()
	doc := drawn(t, page.EndpointFormPage(f))
	wantNumber(t, doc, `#kind input[value="http"][checked]`, 1)
	wantNumber(t, doc, `#endpoint .kind-choice > [data-kind]`, 2)
	f.Kind = string(gateway.EndpointListen)
	wantNumber(t, drawn(t, page.EndpointFormPage(f)), `#kind input[value="listen"][checked]`, 1)
	f.New = false
	doc = drawn(t, page.EndpointFormPage(f))
	wantNumber(t, doc, `#endpoint input[name="url"], #endpoint input[name="kind"]`, 0)
	wantNumber(t, doc, `[data-kind="listen"]`, 1)
	f.Kind = string(gateway.EndpointHTTP)
	doc = drawn(t, page.EndpointFormPage(f))
	wantNumber(t, doc, `#endpoint input[name="url"]`, 1)
	wantNumber(t, doc, `#endpoint input[name="kind"]`, 0)
}

func TestEndpointsListTellsWhoIsNotListenedFor(t *testing.T) {
	t.Parallel()
	v := page.Endpoints{Frame: framed(), Rows: []page.EndpointRow{
		{ID: endpointID(1), Name: "Jo", Address: page.ListenedFor, Unheard: true, State: "active"},
		{ID: endpointID(2), Name: "Mara", Address: page.ListenedFor, State: "active"},
	}}
	doc := drawn(t, page.EndpointsPage(v))
	wantWords(t, doc, "#"+endpointID(1).String(), "rowlock listen: nobody listens")
	if text := doc.Find("#" + endpointID(2).String()).Text(); strings.Contains(text, "nobody") || !strings.Contains(text, page.ListenedFor) {
		t.Errorf("the other is shown as %q", text)
	}
}
