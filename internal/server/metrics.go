package server

import (
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// The ways in which events come.
const (
	viaAPI    = "api"
	viaIngest = "ingest"
)

// metrics are the server's own numbers.
type metrics struct {
	requests *prometheus.CounterVec
	accepted *prometheus.CounterVec
	refused  *prometheus.CounterVec
	answered map[string]answerTimes
}

// answerTimes are how long answers of one way in took: to what was accepted, to
// what was refused, and where the fault was ours.
type answerTimes struct{ accepted, refused, failed prometheus.Observer }

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rowlock_http_requests_total",
			Help: "Requests answered, by method, route and status.",
		}, []string{"method", "route", "status"}),
		accepted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rowlock_events_accepted_total",
			Help: "Events taken in, by the way they came (api, ingest) and whether they were repeats.",
		}, []string{"via", "duplicate"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rowlock_events_refused_total",
			Help: "Requests with events, and single events of a batch, that were refused, by the way they came and the problem's code.",
		}, []string{"via", "cause"}),
		answered: map[string]answerTimes{},
	}
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "rowlock_accept_duration_seconds",
		Help:    "From a request with events to its answer, by the way it came and whether it was accepted, refused (4xx) or failed (5xx).",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"via", "result"})
	for _, via := range []string{viaAPI, viaIngest} {
		m.answered[via] = answerTimes{
			accepted: took.WithLabelValues(via, "accepted"),
			refused:  took.WithLabelValues(via, "refused"),
			failed:   took.WithLabelValues(via, "failed"),
		}
	}
	registry.MustRegister(m.requests, m.accepted, m.refused, took, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// wayIn tells by which way a request brings events; empty when it brings none.
func wayIn(c echo.Context) string {
	switch c.Path() {
	case gateway.IngestPath + ":token", gateway.IngestPath + ":token/*":
		return viaIngest
	case api.Prefix + "/events", api.Prefix + "/events/batch":
		if methodOf(c.Request()) == http.MethodPost {
			return viaAPI
		}
	}
	return ""
}

// timeAnswer notes how long a request with events was answered after.
func (m *metrics) timeAnswer(c echo.Context, took time.Duration) {
	times, ok := m.answered[wayIn(c)]
	if !ok {
		return
	}
	switch status := c.Response().Status; {
	case status >= http.StatusInternalServerError:
		times.failed.Observe(took.Seconds())
	case status >= http.StatusBadRequest:
		times.refused.Observe(took.Seconds())
	default:
		times.accepted.Observe(took.Seconds())
	}
}

// countRefused counts what the router or a handler refused of a request with
// events. What the API refuses it counts itself.
func (m *metrics) countRefused(c echo.Context, code problem.Code) {
	if via := wayIn(c); via != "" {
		m.refused.WithLabelValues(via, string(code)).Inc()
	}
}

// refusedBy returns the counter of what is refused of one way in.
func (m *metrics) refusedBy(via string) func(problem.Code) {
	return func(code problem.Code) { m.refused.WithLabelValues(via, string(code)).Inc() }
}

// countRequest counts by the route's pattern: addresses as they came would be
// as many as anybody likes.
func (m *metrics) countRequest(c echo.Context) {
	route := c.Path()
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(knownMethod(methodOf(c.Request())), route, strconv.Itoa(c.Response().Status)).Inc()
}

// knownMethod keeps made-up methods from becoming labels.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

// countAccepted returns the counter of one way in.
func (m *metrics) countAccepted(via string) func(duplicate bool) {
	first, again := m.accepted.WithLabelValues(via, "false"), m.accepted.WithLabelValues(via, "true")
	return func(duplicate bool) {
		if duplicate {
			again.Inc()
			return
		}
		first.Inc()
	}
}

// metricsHandler answers on the metrics listener, which is not for the public.
func (s *Server) metricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.deps.Metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
