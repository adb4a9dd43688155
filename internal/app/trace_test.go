package app_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/rowlock/rowlock/internal/app"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// spans is a collector of traces.
type spans struct {
	*httptest.Server

	mu  sync.Mutex
	got []*otlp.Span
}

func newSpans(t *testing.T) *spans {
	t.Helper()
	s := &spans{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(text, &sent) != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s %s: %d bytes, %v", r.Method, r.URL.Path, len(text), err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, of := range sent.ResourceSpans {
			for _, in := range of.ScopeSpans {
				s.got = append(s.got, in.Spans...)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// of are the spans of a trace by their names, which are all different.
func (s *spans) of(t *testing.T, trace string) map[string]*otlp.Span {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]*otlp.Span{}
	for _, span := range s.got {
		if hex.EncodeToString(span.TraceId) != trace {
			continue
		}
		if all[span.Name] != nil {
			t.Errorf("there are two spans %s", span.Name)
		}
		all[span.Name] = span
	}
	return all
}

const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	callersSpan  = "b7ad6b7169203331"
)

// An event is one trace from its sender to its receiver, though one process takes
// it in, another one decides and sends it, and nothing but the database joins them.
func TestOneTraceOverProcesses(t *testing.T) {
	t.Parallel()
	database, traces := pgtest.URL(t), newSpans(t)
	tracing := "OTEL_EXPORTER_OTLP_ENDPOINT=" + traces.URL
	accepts := serveAs(t, app.Roles{API: true, Ingest: true}, database, tracing)
	accepts.signUp(database)
	url, got := receiver(t)
	accepts.call(http.MethodPost, "/endpoints", `{"url":"`+url+`"}`)
	id := accepts.publish("Traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")

	sends := serveAs(t, app.Roles{Worker: true}, database, tracing)
	header := <-got
	if shown := accepts.traceOf(id); shown != callersTrace {
		t.Errorf("the API shows the trace %q, want %s", shown, callersTrace)
	}
	sends.stop()
	accepts.stop()

	all := traces.of(t, callersTrace)
	publish, decide, attempt := all["publish"], all["decide"], all["attempt"]
	if publish == nil || decide == nil || attempt == nil || len(all) != 3 {
		t.Fatalf("the trace has %v", all)
	}
	for name, c := range map[string]struct {
		span   *otlp.Span
		parent string
	}{
		"publish": {publish, callersSpan},
		"decide":  {decide, hex.EncodeToString(publish.SpanId)},
		"attempt": {attempt, hex.EncodeToString(publish.SpanId)},
	} {
		if parent := hex.EncodeToString(c.span.ParentSpanId); parent != c.parent {
			t.Errorf("%s stands below %s, want %s", name, parent, c.parent)
		}
		if c.span.EndTimeUnixNano < c.span.StartTimeUnixNano {
			t.Errorf("%s ends before it begins", name)
		}
	}
	if want := "00-" + callersTrace + "-" + hex.EncodeToString(attempt.SpanId) + "-01"; header.Get("Traceparent") != want {
		t.Errorf("the receiver is told %q, want %s", header.Get("Traceparent"), want)
	}
	want := []string{
		"http.response.status_code", "rowlock.account_id", "rowlock.attempt", "rowlock.delivery_id", "rowlock.endpoint_id",
		"rowlock.event_id", "rowlock.outcome", "rowlock.trigger",
	}
	if diff := cmp.Diff(want, attributes(attempt)); diff != "" {
		t.Errorf("attributes of the attempt: %s", diff)
	}
}

func attributes(span *otlp.Span) (names []string) {
	for _, a := range span.Attributes {
		names = append(names, a.Key)
	}
	slices.Sort(names)
	return names
}

// What a provider sends begins a trace of its own. One that its caller does not
// keep is not kept, and nothing tells of it.
func TestWhatIsTraced(t *testing.T) {
	t.Parallel()
	database, traces := pgtest.URL(t), newSpans(t)
	p := serveAs(t, everyRole, database, "OTEL_EXPORTER_OTLP_ENDPOINT="+traces.URL)
	p.signUp(database)
	url, got := receiver(t)
	p.call(http.MethodPost, "/endpoints", `{"url":"`+url+`"}`)

	unkept := p.publish("Traceparent", "00-"+callersTrace+"-"+callersSpan+"-00")
	if header := <-got; header.Get("Traceparent") != "" || p.traceOf(unkept) != "" {
		t.Errorf("of a trace that is not kept the receiver is told %q, and the API %q", header.Get("Traceparent"), p.traceOf(unkept))
	}

	var source struct {
		URL string `json:"ingest_url"`
	}
	p.read(p.call(http.MethodPost, "/sources", `{"kind":"none","name":"Anybody"}`), &source)
	status, text := p.send(http.MethodPost, source.URL, `{}`, "Content-Type", "application/json")
	if status != http.StatusOK {
		t.Fatalf("ingest: %d %s", status, text)
	}
	var event struct {
		ID string `json:"id"`
	}
	p.read(text, &event)
	header, trace := <-got, p.traceOf(event.ID)
	if len(trace) != 32 || !strings.HasPrefix(header.Get("Traceparent"), "00-"+trace+"-") {
		t.Errorf("the trace %q, the receiver is told %q", trace, header.Get("Traceparent"))
	}
	p.stop()
	all := traces.of(t, trace)
	if all["ingest"] == nil || all["decide"] == nil || all["attempt"] == nil || len(all) != 3 || len(all["ingest"].ParentSpanId) != 0 {
		t.Errorf("the trace has %v", all)
	}
	if all := traces.of(t, callersTrace); len(all) != 0 {
		t.Errorf("the trace that is not kept has %v", all)
	}
}

// Without a collector nothing is stored of traces, and nothing is passed on.
func TestNothingIsTracedWithoutACollector(t *testing.T) {
	t.Parallel()
	p := working(t)
	id := p.publish("Traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")
	if trace := p.traceOf(id); trace != "" {
		t.Errorf("the API shows the trace %s", trace)
	}
}

// A collector that is away costs nothing but its spans: events come through, and
// the process stops in time.
func TestACollectorThatIsAway(t *testing.T) {
	t.Parallel()
	p := working(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+freeAddress(t))
	p.stop()
}

// publish has an event taken in, and returns its id.
func (p *process) publish(headers ...string) string {
	p.t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	p.read(p.call(http.MethodPost, "/events", `{"type":"a.b","data":1}`, headers...), &made)
	return made.ID
}

// traceOf is an event's trace as the API shows it.
func (p *process) traceOf(event string) string {
	p.t.Helper()
	var shown struct {
		TraceID string `json:"trace_id"`
	}
	p.read(p.call(http.MethodGet, "/events/"+event, ""), &shown)
	return shown.TraceID
}

func (p *process) read(text string, into any) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
}
