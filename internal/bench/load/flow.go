package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/bench/load/burst"
)

// accepting measures how soon events are kept that no endpoint asks for, over
// few and many connections.
func (r *run) accepting(ctx context.Context, report *Report) error {
	for _, c := range r.Connections {
		p := r.publisher(fmt.Sprintf("%s.accept.%d", r.name, c), r.BodySize, max(r.Events*min(c, 8)/8, 1))
		if err := r.warm(ctx); err != nil {
			return err
		}
		b, err := p.all(ctx, r, c)
		if err != nil {
			return err
		}
		report.Accept = append(report.Accept, rate(c, b))
	}
	return r.quiet(ctx)
}

// warm publishes a few events that do not count.
func (r *run) warm(ctx context.Context) error {
	if _, err := r.publisher(r.name+".warm", r.BodySize, warmEvents).all(ctx, r, r.most()); err != nil {
		return err
	}
	return r.quiet(ctx)
}

const warmEvents = 1000

// most is the last number of connections.
func (r *run) most() int { return r.Connections[len(r.Connections)-1] }

// oneEndpoint measures events that one endpoint takes.
func (r *run) oneEndpoint(ctx context.Context, report *Report) (err error) {
	report.OneEndpoint, err = r.flow(ctx, "one", 1, r.Events, r.BodySize)
	return err
}

// fanOut measures events that ten endpoints take.
func (r *run) fanOut(ctx context.Context, report *Report) (err error) {
	const endpoints = 10
	report.FanOut, err = r.flow(ctx, "ten", endpoints, max(r.Events/5, 1), r.BodySize)
	return err
}

// growing measures as many deliveries over more and more endpoints, and of larger
// and larger bodies.
func (r *run) growing(ctx context.Context, report *Report) error {
	if !r.Grow {
		return nil
	}
	for _, endpoints := range []int{1, 10, 100, 1000} {
		f, err := r.flow(ctx, fmt.Sprintf("over%d", endpoints), endpoints, max(r.Events/endpoints, 1), r.BodySize)
		if err != nil {
			return err
		}
		report.Endpoints = append(report.Endpoints, f)
	}
	for _, size := range []int{1 << 10, 64 << 10, 1000 << 10} {
		f, err := r.flow(ctx, fmt.Sprintf("of%d", size), 1, max(r.Events<<10/max(size, 10<<10), 1), size)
		if err != nil {
			return err
		}
		report.Sizes = append(report.Sizes, f)
	}
	return nil
}

// flow publishes events over all connections at once to so many endpoints, and
// waits until each has come to each of them.
func (r *run) flow(ctx context.Context, name string, endpoints, events, size int) (f Flow, err error) {
	if err := r.quiet(ctx); err != nil {
		return Flow{}, err
	}
	kind := r.name + "." + name
	if err := r.warmFlow(ctx, kind+".warm", size); err != nil {
		return Flow{}, err
	}
	p := r.publisher(kind, size, events)
	to, err := receive(ctx, p, endpoints)
	if err != nil {
		return Flow{}, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	err = r.withEndpoints(ctx, kind, addresses(to, endpoints), func() error {
		before, err := r.usage.look(ctx)
		if err != nil {
			return err
		}
		p.began = time.Now()
		to.began = p.began
		b, err := p.all(ctx, r, r.most())
		if err != nil {
			return err
		}
		if err := to.await(ctx); err != nil {
			return err
		}
		if err := r.quiet(ctx); err != nil {
			return err
		}
		after, err := r.usage.look(ctx)
		if err != nil {
			return err
		}
		f = newFlow(p, to, b, size)
		f.Cost = cost(before, after, endpoints*events, events)
		return f.check()
	})
	return f, err
}

// warmFlow lets a few events go the whole way first.
func (r *run) warmFlow(ctx context.Context, kind string, size int) (err error) {
	p := r.publisher(kind, size, min(warmEvents, max(warmEvents<<10/size, 1)))
	to, err := receive(ctx, p, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	return r.withEndpoints(ctx, kind, addresses(to, 1), func() error {
		if _, err := p.all(ctx, r, r.most()); err != nil {
			return err
		}
		return to.await(ctx)
	})
}

func addresses(to *receiver, n int) (all []string) {
	for i := range n {
		all = append(all, to.address(i))
	}
	return all
}

// steadyRate is how many events come in a second at the steady pace.
const steadyRate = 100

// steady measures how long an event takes that comes when little else does.
func (r *run) steady(ctx context.Context, report *Report) (err error) {
	p := r.publisher(r.name+".steady", r.BodySize, max(int(r.Steady.Seconds()*steadyRate), 1))
	to, err := receive(ctx, p, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	return r.withEndpoints(ctx, r.name+".steady", addresses(to, 1), func() error {
		report.Steady, err = r.paced(ctx, p, to)
		return err
	})
}

// besideSlow measures the same while another endpoint takes the same events and
// answers none of them in time.
func (r *run) besideSlow(ctx context.Context, report *Report) (err error) {
	kind := r.name + ".beside"
	p := r.publisher(kind, r.BodySize, max(int(r.Steady.Seconds()*steadyRate), 1))
	to, err := receive(ctx, p, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	slow, err := newSlow(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, slow.close()) }()
	return r.withEndpoints(ctx, kind, []string{to.address(0), slow.url}, func() error {
		report.BesideSlow, err = r.paced(ctx, p, to)
		return err
	})
}

// paced publishes events at a steady pace and waits until they have come.
func (r *run) paced(ctx context.Context, p *publisher, to *receiver) (Latency, error) {
	if err := r.quiet(ctx); err != nil {
		return Latency{}, err
	}
	wires, hangUp, err := dialAll(ctx, r.server, r.most())
	if err != nil {
		return Latency{}, err
	}
	defer hangUp()
	p.began = time.Now()
	to.began = p.began
	if err := p.pace(ctx, wires); err != nil {
		return Latency{}, err
	}
	if err := to.await(ctx); err != nil {
		return Latency{}, err
	}
	return latency(p, to), nil
}

// pace publishes each event when its time has come, over the next connection that
// is free.
func (p *publisher) pace(ctx context.Context, wires []*wire) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free := make(chan *wire, len(wires))
	for _, w := range wires {
		free <- w
	}
	tick := time.NewTicker(time.Second / steadyRate)
	defer tick.Stop()
	var senders sync.WaitGroup
	defer senders.Wait()
	for n := range p.sent {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case w := <-free:
			senders.Go(func() {
				defer func() { free <- w }()
				if err := p.publish(w, n); err != nil {
					cancel(err)
				}
			})
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	senders.Wait()
	return context.Cause(ctx)
}

// newFlow tells what a burst became at its receiver.
func newFlow(p *publisher, to *receiver, b burst.Burst, size int) Flow {
	var last int64
	for e := range to.arrived {
		for n := range to.arrived[e] {
			last = max(last, to.arrived[e][n].Load())
		}
	}
	deliveries := len(to.arrived) * len(p.sent)
	return Flow{
		Endpoints: len(to.arrived), Events: len(p.sent), BodySize: size,
		PerSecond: float64(deliveries) / time.Duration(last).Seconds(),
		Accept:    rate(0, b), Latency: latency(p, to),
		Repeated: to.repeated.Load(), Altered: to.altered.Load(),
	}
}

// check refuses a flow that is none.
func (f Flow) check() error {
	if f.Altered > 0 {
		return fmt.Errorf("%w: %d deliveries were not what was published", burst.ErrUnexpected, f.Altered)
	}
	return nil
}

// latency is how long events took from being sent to being there.
func latency(p *publisher, to *receiver) Latency {
	var took []time.Duration
	for e := range to.arrived {
		for n, sent := range p.sent {
			took = append(took, time.Duration(to.arrived[e][n].Load())-sent)
		}
	}
	slices.Sort(took)
	return Latency{P50: millis(burst.Within(took, 50)), P99: millis(burst.Within(took, 99)), Max: millis(burst.Within(took, 100))}
}

// rate is a burst in figures.
func rate(connections int, b burst.Burst) Rate {
	return Rate{
		Connections: connections, PerSecond: b.PerSecond(),
		Latency: Latency{P50: millis(b.Within(50)), P99: millis(b.Within(99)), Max: millis(b.Within(100))},
	}
}

// millis are rounded to hundredths.
func millis(d time.Duration) float64 { return math.Round(d.Seconds()*1e5) / 100 }
