package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Sending is how much of a node's room for sends is taken.
type Sending struct {
	// Sends are slots that are taken, Waiting are endpoints with work that wait
	// for one, and Drains are all that have work here.
	Sends, Waiting, Drains int
}

// WatchSending adds what a node has under way, of as many sends as there are
// slots. It is asked at each scrape.
func WatchSending(registry prometheus.Registerer, slots int, ask func() Sending) {
	gauge := func(name, help string, of func(Sending) int) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(of(ask())) }))
	}
	gauge("rowlock_sends_in_flight", "Sends that are under way on this node.", func(s Sending) int { return s.Sends })
	gauge("rowlock_sends_max", "How many sends may be under way on this node (ROWLOCK_WORKERS).", func(Sending) int { return slots })
	gauge("rowlock_drains_open", "Endpoints that this node sends to, or has work for.", func(s Sending) int { return s.Drains })
	gauge("rowlock_drains_waiting", "Endpoints with work for which no send is free on this node.", func(s Sending) int { return s.Waiting })
}

// Pool is how a node's connections to the database are used.
type Pool struct {
	// Acquired are in use, Idle are not, of at most Max.
	Acquired, Idle, Max int32
	// Acquires is how often one was asked for, Waits how often somebody had to
	// wait for one, and Waited how long all of them did.
	Acquires, Waits int64
	Waited          time.Duration
}

// WatchPool adds how the connections are used. It is asked at each scrape.
func WatchPool(registry prometheus.Registerer, ask func() Pool) {
	registry.MustRegister(&poolCollector{
		ask:         ask,
		connections: prometheus.NewDesc("rowlock_db_connections", "Connections to the database that this node has open, by whether they are in use.", []string{"state"}, nil),
		most:        prometheus.NewDesc("rowlock_db_connections_max", "How many connections this node may open.", nil, nil),
		acquires:    prometheus.NewDesc("rowlock_db_acquires_total", "How often a connection was asked for.", nil, nil),
		waits:       prometheus.NewDesc("rowlock_db_waits_total", "How often somebody had to wait for a connection.", nil, nil),
		waited:      prometheus.NewDesc("rowlock_db_wait_seconds_total", "How long all of them waited.", nil, nil),
	})
}

type poolCollector struct {
	ask                                        func() Pool
	connections, most, acquires, waits, waited *prometheus.Desc
}

// Describe tells which metrics there are.
func (c *poolCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.connections, c.most, c.acquires, c.waits, c.waited} {
		to <- desc
	}
}

// Collect tells how they stand, all at one moment.
func (c *poolCollector) Collect(to chan<- prometheus.Metric) {
	p := c.ask()
	to <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(p.Acquired), "acquired")
	to <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(p.Idle), "idle")
	to <- prometheus.MustNewConstMetric(c.most, prometheus.GaugeValue, float64(p.Max))
	to <- prometheus.MustNewConstMetric(c.acquires, prometheus.CounterValue, float64(p.Acquires))
	to <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(p.Waits))
	to <- prometheus.MustNewConstMetric(c.waited, prometheus.CounterValue, p.Waited.Seconds())
}
