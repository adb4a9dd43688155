// Package app puts the product together: database, store, use cases, workers
// and server, started in this order and stopped in the other.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/server/dashboard"
)

// ServeOptions are what a process is started with.
type ServeOptions struct {
	Config  config.Config
	Roles   Roles
	Log     *slog.Logger
	Version string
	// Stdout is told the address, once it answers.
	Stdout io.Writer
	// Kit adds the page of all components to the dashboard, for who works on
	// them.
	Kit bool
}

const (
	// stopRequests bounds how long requests under way may take at the end.
	stopRequests = 20 * time.Second
	// stopWorkers bounds how long jobs may take at the end.
	stopWorkers = 10 * time.Second
)

// errDatabaseGone ends a process whose embedded database ended.
var errDatabaseGone = errors.New("the embedded PostgreSQL ended by itself; its log, postgres.log in the data directory (ROWLOCK_DATA_DIR), says why")

// Serve runs a process until ctx ends, and stops it in order: no more traffic,
// what was accepted committed, what is in flight recorded, lanes handed over.
func Serve(ctx context.Context, o ServeOptions) (err error) {
	db, err := openDatabase(ctx, o.Config, o.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(ctx)) }()
	s, pool, err := openStore(ctx, o.Config, db)
	if err != nil {
		return err
	}
	defer pool.Close()
	c := clock.New()
	if err := observe(ctx, s, c); err != nil {
		return err
	}
	v, err := newServices(ctx, o, db, s, pool, c)
	if err != nil {
		return err
	}
	defer v.egress.CloseIdle()
	defer v.stopTracing(ctx, o.Log)
	if err := v.retain.MakeDays(ctx); err != nil {
		return err
	}
	if err := v.beat(ctx); err != nil {
		return err
	}
	return v.run(ctx, o, db)
}

// run starts the parts and waits for the end.
func (v *services) run(ctx context.Context, o ServeOptions, db *database) error {
	deps, err := v.serverDeps(o)
	if err != nil {
		return err
	}
	http, err := server.New(deps) //nolint:contextcheck // handlers have their request's
	if err != nil {
		return err
	}
	parts := v.start(ctx, o, db.url)
	defer parts.stop() //nolint:contextcheck // what ends the process is over by then
	if o.Roles.Worker {
		if err := v.workers.Start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		parts.workers = v.workers.Stop
	}
	if err := http.Start(ctx); err != nil {
		return err
	}
	parts.server = http.Shutdown
	link, err := v.setupLink(ctx, o)
	if err != nil {
		return err
	}
	greet(o, link)
	select {
	case <-ctx.Done():
		o.Log.Info("stopping")
		http.Leave(o.Config.DrainPause)
		http.Drain()
		return nil
	case err := <-http.Failed():
		return err
	case <-db.gone():
		return errDatabaseGone
	}
}

// running is what is to be stopped.
type running struct {
	log *slog.Logger
	// server ends the listeners; it is nil until it runs.
	server func(context.Context) error
	// accepts commits what is queued.
	accepts func()
	// workers stops fetching jobs; it is nil until they run.
	workers func(context.Context) error
	// drains decides what is begun, records what is in flight, and hands the
	// lanes over.
	drains func()
	// tasks and the rest.
	tasks func()
	leave func(context.Context) error
}

// start runs what needs no listener: committers, drains, tasks.
func (v *services) start(ctx context.Context, o ServeOptions, databaseURL string) *running {
	r := &running{log: o.Log}
	base := context.WithoutCancel(ctx)
	r.accepts = background(base, v.accept.Run)
	r.drains = func() {}
	if o.Roles.Worker {
		drains, decisions := background(base, v.deliver.Run), background(base, v.decide.Run)
		r.drains = func() {
			decisions()
			drains()
		}
	}
	r.tasks = background(base, func(ctx context.Context) {
		var all sync.WaitGroup
		all.Go(func() { runTasks(ctx, o.Log, v.tasks(o.Roles)) })
		all.Go(func() { v.followNotices(ctx) })
		if o.Roles.Worker {
			all.Go(func() { finishIndexes(ctx, databaseURL, o.Log) })
		}
		all.Wait()
	})
	r.leave = func(ctx context.Context) error { return v.store.LeaveNode(ctx, v.node.Name) }
	return r
}

// background runs something until the returned function is called, which waits
// for its end.
func background(base context.Context, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(base)
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// stop ends everything in order. While sends finish, which may take seconds,
// the server still says that it is not ready.
func (r *running) stop() {
	if r.workers != nil {
		r.tell("stop the workers", stopWorkers, r.workers)
	}
	r.drains()
	if r.server != nil {
		r.tell("stop the server", stopRequests, r.server)
	}
	r.accepts()
	r.tasks()
	r.tell("leave", stopWorkers, r.leave)
	r.log.Info("stopped")
}

func (r *running) tell(what string, limit time.Duration, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := do(ctx); err != nil {
		r.log.Warn("stopping", "step", what, "error", err)
	}
}

func (v *services) serverDeps(o ServeOptions) (server.Deps, error) {
	jobs, err := jobConsole(v.workers, o.Log)
	return server.Deps{
		ServeWeb: o.Roles.Web, ServeAPI: o.Roles.API, ServeIngest: o.Roles.Ingest, Kit: o.Kit,
		Listen: string(o.Config.Listen), MetricsListen: string(o.Config.MetricsListen),
		BaseURL: string(o.Config.BaseURL), TrustedProxies: o.Config.TrustedProxies,
		MaxBody: int(o.Config.MaxBody), Version: o.Version,
		Store: v.store, Accounts: v.accounts, Accept: v.accept, Decide: v.decide, Deliver: v.deliver, Operate: v.operate, Explore: v.explore, Claims: v.claims, Reconcile: v.reconcile,
		Endpoints: v.endpoints, Sources: v.sources, EventTypes: v.eventTypes, Notify: v.notify,
		MailOut: o.Config.SMTPURL != "", Retention: o.Config.Retention, Settings: o.Config.Settings(), Limits: dashboard.Limits{
			Endpoints: o.Config.AccountMaxEndpoints, EventsPerSecond: o.Config.AccountEventsPerSecond, StoredBytes: int64(o.Config.AccountStoredBytes),
			DedupeWindow: o.Config.DedupeWindow, ClaimRetention: o.Config.ClaimRetention,
		},
		Ready: v.checks(), Now: v.clock.Now, Log: o.Log, Jobs: jobs, Metrics: v.metrics, Trace: v.traceRequest(),
	}, err
}

// checks are what must hold for this process to get traffic.
func (v *services) checks() []server.Check {
	return []server.Check{
		{Name: "database", Ready: v.store.Ping},
		{Name: "partitions", Ready: v.retain.HasDays},
	}
}

// setupLink is where the first person signs up; empty when somebody has, or
// when this process has no pages.
func (v *services) setupLink(ctx context.Context, o ServeOptions) (string, error) {
	if !o.Roles.Web {
		return "", nil
	}
	token, err := v.accounts.SetupToken(ctx)
	if err != nil || token == "" {
		return "", err
	}
	return string(o.Config.BaseURL) + "/signup?setup=" + token, nil
}

// greet tells a person what answers here, and what to do next.
func greet(o ServeOptions, setupLink string) {
	base := string(o.Config.BaseURL)
	var text strings.Builder
	fmt.Fprintf(&text, "Rowlock %s is ready.\n\n", o.Version)
	line := func(on bool, name, what string) {
		if on {
			fmt.Fprintf(&text, "  %-9s  %s\n", name, what)
		}
	}
	line(o.Roles.API || o.Roles.Ingest, "address", base)
	line(o.Roles.Web, "dashboard", base)
	line(o.Roles.API, "API", base+"/api/v1   (its pages: "+base+"/api/docs)")
	line(o.Roles.Ingest, "ingest", base+gateway.IngestPath+"…")
	line(o.Roles.Worker, "worker", "decides and delivers what was accepted")
	if setupLink != "" {
		fmt.Fprintf(&text, "\nNobody owns this instance yet. Who signs up here first does; the link works once:\n  %s\n", setupLink)
	}
	switch {
	case o.Roles.Web:
		text.WriteString("\nWhat to do next: open the dashboard in a browser. It leads through the first steps.\n")
	case o.Roles.API:
		text.WriteString(`
What to do next: make an account,
  rowlock account create --name Acme --email you@example.com
and send it something: README.md has a walk that works as pasted.
`)
	}
	_, _ = io.WriteString(o.Stdout, text.String())
}
