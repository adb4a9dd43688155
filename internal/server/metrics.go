package server

import (
	"net/http"
	"net/http/pprof"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the server's own numbers.
type metrics struct {
	requests *prometheus.CounterVec
	accepted *prometheus.CounterVec
}

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
	}
	registry.MustRegister(m.requests, m.accepted, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
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
