package load

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
)

// Report is what a measurement found. Times are in milliseconds.
type Report struct {
	Machine Machine `json:"machine"`
	Floor   Floor   `json:"floor"`
	// Accept is how soon events are kept, by the number of connections.
	Accept []Rate `json:"accept"`
	// OneEndpoint and FanOut are events on their whole way.
	OneEndpoint Flow `json:"one_endpoint"`
	FanOut      Flow `json:"fan_out"`
	// Steady is how long one event takes at a hundred a second, BesideSlow the
	// same while another endpoint does not answer in time.
	Steady     Latency `json:"steady"`
	BesideSlow Latency `json:"beside_slow"`
	// Endpoints and Sizes are how the cost grows; empty when it was not asked for.
	Endpoints []Flow `json:"endpoints,omitempty"`
	Sizes     []Flow `json:"sizes,omitempty"`
}

// Machine is what the figures depend on.
type Machine struct {
	CPUs int    `json:"cpus"`
	OS   string `json:"os"`
	Go   string `json:"go"`
	// Version is this program's, which is not the server's when they differ.
	Version string `json:"version"`
	// Database are its settings that matter; nil when no database was looked at.
	Database map[string]string `json:"database,omitempty"`
	Events   int               `json:"events"`
	BodySize int               `json:"body_size"`
}

// Floor is what no server could do without: by the number of connections, HTTP
// exchanges, rows committed alone, and rows committed with those that wait.
type Floor struct {
	Echo   []Rate `json:"echo"`
	Commit []Rate `json:"commit,omitempty"`
	Group  []Rate `json:"group,omitempty"`
}

// Rate is how many in a second, and how long each took.
type Rate struct {
	Connections int     `json:"connections"`
	PerSecond   float64 `json:"per_second"`
	Latency
}

// Latency is how long things took, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Flow is events on their whole way.
type Flow struct {
	Endpoints int `json:"endpoints"`
	Events    int `json:"events"`
	BodySize  int `json:"body_size"`
	// PerSecond is deliveries from the first event's sending to the last arrival.
	PerSecond float64 `json:"per_second"`
	// Accept is how soon the same events were kept meanwhile.
	Accept Rate `json:"accept"`
	// Latency is from an event's sending to its arrival.
	Latency Latency `json:"latency"`
	// Repeated are deliveries that came once more, Altered those that differ from
	// what was published.
	Repeated int64 `json:"repeated"`
	Altered  int64 `json:"altered"`
	Cost     Cost  `json:"cost"`
}

// Cost is what a flow used. What was not looked at is 0.
type Cost struct {
	// ServerCPU and DatabaseCPU are seconds for 10,000 deliveries.
	ServerCPU   float64 `json:"server_cpu"`
	DatabaseCPU float64 `json:"database_cpu"`
	// Memory is the server's, in bytes, at the end.
	Memory int64 `json:"memory"`
	// For each event: statements, bytes of the log of changes, and rows left dead.
	Statements float64 `json:"statements"`
	WAL        float64 `json:"wal"`
	Dead       float64 `json:"dead"`
	// HOT is the share of changed rows that needed no new place in an index.
	HOT float64 `json:"hot"`
	// Top are the statements that took most of the database's time.
	Top []Statement `json:"top,omitempty"`
}

// Statement is one of the database's, in so many events.
type Statement struct {
	Text string `json:"text"`
	// Calls are for each event, Millis for a thousand of them; what a statement
	// waited for others is in them.
	Calls  float64 `json:"calls"`
	Millis float64 `json:"millis"`
}

// CPU is the processor time of server and database for 10,000 deliveries.
func (c Cost) CPU() float64 { return round(c.ServerCPU + c.DatabaseCPU) }

func (r *run) machine(ctx context.Context) (m Machine, err error) {
	m = Machine{CPUs: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Events: r.Events, BodySize: r.BodySize}
	if info, ok := debug.ReadBuildInfo(); ok {
		m.Version = info.Main.Version
	}
	if r.pool != nil {
		m.Database, err = settings(ctx, r.pool)
	}
	return m, err
}

// round keeps two digits after the point.
func round(x float64) float64 { return math.Round(x*100) / 100 }

// ratio is a share of a whole; 0 of nothing.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return round(float64(part) / float64(whole))
}
