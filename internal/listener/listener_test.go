package listener_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/listener"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// server hands out orders, one answer after the other, and takes reports as the
// test has it. It is the far end of the protocol; the real one is in the tests of
// whole processes.
type server struct {
	*httptest.Server

	mu sync.Mutex
	// answers are those to askings; when there are none, they wait.
	answers [][]client.Order
	more    chan struct{}
	// holding is what the last asking held, host where it came from. asked gets it.
	holding []string
	host    string
	asked   chan []string
	// report answers a call with reports.
	report  func(w http.ResponseWriter, reports []client.Report)
	reports chan client.Report
	left    chan struct{}
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{more: make(chan struct{}, 100), asked: make(chan []string, 100), reports: make(chan client.Report, 100), left: make(chan struct{}, 1), report: known}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// known records every report.
func known(w http.ResponseWriter, reports []client.Report) {
	ids := make([]string, len(reports))
	for i := range reports {
		ids[i] = reports[i].ID
	}
	_ = json.NewEncoder(w).Encode(map[string][]string{"recorded": ids})
}

// gaveUp records none.
func gaveUp(w http.ResponseWriter, _ []client.Report) { _, _ = w.Write([]byte(`{"recorded":[]}`)) }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
		s.left <- struct{}{}
	case strings.HasSuffix(r.URL.Path, "/poll"):
		s.poll(w, r)
	default:
		var body struct{ Reports []client.Report }
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.mu.Lock()
		report := s.report
		s.mu.Unlock()
		report(w, body.Reports)
		for _, one := range body.Reports {
			s.reports <- one
		}
	}
}

func (s *server) poll(w http.ResponseWriter, r *http.Request) {
	var asking client.Asking
	_ = json.NewDecoder(r.Body).Decode(&asking)
	s.mu.Lock()
	s.holding, s.host = asking.Holding, asking.Host
	s.mu.Unlock()
	s.asked <- asking.Holding
	select {
	case <-s.more:
	case <-r.Context().Done():
		return
	}
	s.mu.Lock()
	orders := s.answers[0]
	s.answers = s.answers[1:]
	s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{"orders": views(orders)})
}

// views are orders as the API writes them.
func views(orders []client.Order) []map[string]any {
	all := []map[string]any{}
	for _, o := range orders {
		all = append(all, map[string]any{
			"id": o.ID, "delivery_id": o.DeliveryID, "event_type": "order.created", "number": o.Number,
			"headers": map[string]string{"Webhook-Id": "evt_1"}, "body": o.Body, "timeout": "10s",
		})
	}
	return all
}

// give hands orders out with the next answer.
func (s *server) give(orders ...client.Order) {
	s.mu.Lock()
	s.answers = append(s.answers, orders)
	s.mu.Unlock()
	s.more <- struct{}{}
}

func (s *server) takes(report func(http.ResponseWriter, []client.Report)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = report
}

// reported waits for the next report.
func (s *server) reported(t *testing.T) client.Report {
	t.Helper()
	select {
	case r := <-s.reports:
		return r
	case <-time.After(patience):
		t.Fatal("no report comes")
		return client.Report{}
	}
}

func order(id, delivery string, n int) client.Order {
	return client.Order{ID: id, DeliveryID: delivery, Number: n, Body: []byte(`{"n":1}`)}
}

// local is a local program: it counts, and answers when it may.
type local struct {
	*httptest.Server

	got  chan *http.Request
	gate chan int
}

// newLocal answers with the statuses that are put into gate.
func newLocal(t *testing.T) *local {
	t.Helper()
	l := &local{got: make(chan *http.Request, 100), gate: make(chan int, 100)}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.got <- r
		select {
		case status := <-l.gate:
			w.WriteHeader(status)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(l.Close)
	return l
}

// longHost is a longer name of a machine than the server takes.
var longHost = strings.Repeat("é", 150)

// running is a listener at work; end stops it and returns what it printed.
func running(t *testing.T, s *server, l *local) (end func() string) {
	t.Helper()
	c, err := client.FromEnviron([]string{"ROWLOCK_SERVER=" + s.URL, "ROWLOCK_API_KEY=rk_test"})
	if err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	made, err := listener.New(listener.Options{Client: c, Endpoint: "laptop", ForwardTo: l.URL, Host: longHost, Out: &out, Notes: &notes})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- made.Run(ctx) }()
	end = sync.OnceValue(func() string {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		return out.String()
	})
	t.Cleanup(func() { end() })
	return end
}

func TestForward(t *testing.T) {
	t.Parallel()
	s, l := newServer(t), newLocal(t)
	end := running(t, s, l)
	l.gate <- 201
	s.give(order("att_1", "dlv_1", 1))
	if r := <-l.got; r.Header.Get("Webhook-Id") != "evt_1" || r.Method != http.MethodPost {
		t.Errorf("request %+v", r)
	}
	if r := s.reported(t); r.ID != "att_1" || r.StatusCode != 201 || r.ErrorKind != "" {
		t.Errorf("report %+v", r)
	}
	s.mu.Lock()
	if s.host != longHost[:2*100] {
		t.Errorf("it says that it runs on %q", s.host)
	}
	s.mu.Unlock()
	text := end()
	if !strings.Contains(text, "order.created") || !strings.Contains(text, "dlv_1") || !strings.Contains(text, "201") {
		t.Errorf("printed %q", text)
	}
	<-s.left
}

// What the local program confirmed and the server gave up comes again, and is
// answered without asking the local program. Once the server knows, it is
// forwarded like any other: somebody wants it sent again.
func TestConfirmedIsNotForwardedAgain(t *testing.T) {
	t.Parallel()
	s, l := newServer(t), newLocal(t)
	running(t, s, l)
	s.takes(gaveUp)
	l.gate <- 200
	s.give(order("att_1", "dlv_1", 1))
	s.reported(t)
	s.takes(known)
	s.give(order("att_2", "dlv_1", 2))
	if r := s.reported(t); r.ID != "att_2" || r.StatusCode != 200 {
		t.Errorf("report %+v", r)
	}
	if n := len(l.got); n != 1 {
		t.Errorf("%d requests", n)
	}
	l.gate <- 500
	for n := 3; ; n++ { // until the answer to a report has arrived: then it is forwarded anew
		id := fmt.Sprintf("att_%d", n)
		s.give(order(id, "dlv_1", n))
		r := s.reported(t)
		if r.ID != id || r.StatusCode != 200 && r.StatusCode != 500 {
			t.Fatalf("report %+v", r)
		}
		if r.StatusCode == 500 {
			return
		}
	}
}

// held tells whether the last asking held an order.
func (s *server) held(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.holding, id)
}

// A delivery that comes while it is being forwarded is not forwarded beside
// itself: it goes as that goes.
func TestOneRequestForADelivery(t *testing.T) {
	t.Parallel()
	s, l := newServer(t), newLocal(t)
	running(t, s, l)
	s.takes(gaveUp) // so that it is remembered, should the second come late
	s.give(order("att_1", "dlv_1", 1))
	<-l.got
	s.give(order("att_2", "dlv_1", 2), order("att_1", "dlv_1", 1), order("att_9", "dlv_2", 1))
	<-l.got // the other delivery: by now it has seen the second
	l.gate <- 200
	l.gate <- 200
	told := map[string]int{}
	for range 3 {
		told[s.reported(t).ID]++
	}
	if told["att_1"] != 1 || told["att_2"] != 1 || told["att_9"] != 1 || len(l.got) != 0 {
		t.Errorf("reports %v, %d more requests", told, len(l.got))
	}
}

// refusal answers as the API refuses.
func refusal(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": code})
}

// A report is told until it is answered, and held as long, with all that the local
// program answered.
func TestReportIsRepeated(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(http.ResponseWriter, []client.Report){
		"bad gateway": func(w http.ResponseWriter, _ []client.Report) { w.WriteHeader(http.StatusBadGateway) },
		"slow line": func(w http.ResponseWriter, _ []client.Report) {
			refusal(w, http.StatusRequestTimeout, "request_timeout")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := newServer(t), newLocal(t)
			running(t, s, l)
			s.takes(lost)
			l.gate <- 200
			s.give(order("att_1", "dlv_1", 1))
			s.reported(t)
			s.give()
			s.reported(t)
			if !s.held("att_1") {
				t.Error("it is not held although no report arrived")
			}
			s.takes(known)
			if r := s.reported(t); r.Headers == nil {
				t.Errorf("report %+v", r)
			}
			if len(l.got) != 1 {
				t.Errorf("%d requests", len(l.got))
			}
		})
	}
}

// A report that the server never takes keeps no other from arriving. Its order is
// held on: given again at once, it would go round without end.
func TestReportThatIsNeverTaken(t *testing.T) {
	t.Parallel()
	s, l := newServer(t), newLocal(t)
	running(t, s, l)
	both := make(chan struct{}, 100)
	s.takes(func(w http.ResponseWriter, reports []client.Report) {
		w.WriteHeader(http.StatusBadGateway)
		if len(reports) == 2 {
			both <- struct{}{}
		}
	})
	l.gate <- 200
	l.gate <- 200
	s.give(order("att_bad", "dlv_1", 1), order("att_2", "dlv_2", 1))
	<-both
	recorded := make(chan string, 100)
	s.takes(func(w http.ResponseWriter, reports []client.Report) {
		for _, r := range reports {
			if r.ID == "att_bad" {
				refusal(w, http.StatusUnprocessableEntity, "invalid")
				return
			}
		}
		known(w, reports)
		recorded <- reports[0].ID
	})
	select {
	case id := <-recorded:
		if id != "att_2" {
			t.Errorf("%s is recorded", id)
		}
	case <-time.After(patience):
		t.Fatal("the other report does not arrive")
	}
	s.give(order("att_3", "dlv_3", 1)) // which the local program answers in the end
	defer func() { l.gate <- 200 }()
	for holding := range s.asked {
		if slices.Contains(holding, "att_3") {
			if !slices.Contains(holding, "att_bad") {
				t.Error("what was refused is not held")
			}
			return
		}
	}
}

// What is no status of HTTP's is told as no answer, which the server can take.
func TestAnswerWithoutAStatus(t *testing.T) {
	t.Parallel()
	s, l := newServer(t), newLocal(t)
	running(t, s, l)
	l.gate <- 999
	s.give(order("att_1", "dlv_1", 1))
	if r := s.reported(t); r.StatusCode != 0 || r.ErrorKind != "protocol" || !strings.Contains(r.Detail, "999") {
		t.Errorf("report %+v", r)
	}
}

// What the server refuses of an answer is left out of the report.
func TestReportWithoutTheAnswer(t *testing.T) {
	t.Parallel()
	s, l := newServer(t), newLocal(t)
	running(t, s, l)
	s.takes(func(w http.ResponseWriter, reports []client.Report) {
		if reports[0].Headers != nil {
			refusal(w, http.StatusUnprocessableEntity, "invalid")
			return
		}
		known(w, reports)
	})
	l.gate <- 200
	s.give(order("att_1", "dlv_1", 1))
	if r := s.reported(t); r.Headers == nil {
		t.Errorf("the first report is %+v", r)
	}
	if r := s.reported(t); r.Headers != nil || r.StatusCode != 200 {
		t.Errorf("the second report is %+v", r)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "localhost:3000", "ftp://localhost/", "http://user:secret@localhost/"} {
		if _, err := listener.New(listener.Options{ForwardTo: url}); err == nil {
			t.Errorf("%q is taken", url)
		}
	}
}
