package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/metrics"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/retain"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/internal/tracing"
	"github.com/rowlock/rowlock/internal/worker"
)

// services are the use cases and what they stand on.
type services struct {
	node    store.Node
	clock   *clock.Clock
	store   *store.Store
	metrics *prometheus.Registry
	// traces is nil where nothing is traced.
	traces *tracing.Tracing

	egress     *egress.Client
	accounts   *account.Service
	notify     *notify.Service
	endpoints  *endpoint.Service
	sources    *source.Service
	eventTypes *eventtype.Service
	accept     *accept.Service
	decide     *decide.Service
	deliver    *deliver.Service
	operate    *operate.Service
	explore    *explore.Service
	claims     *claim.Service
	reconcile  *reconcile.Service
	retain     *retain.Service
	workers    *river.Client[pgx.Tx]
}

// newServices makes the use cases, in the order in which an event meets them
// from behind: who delivers, who decides, who accepts.
func newServices(ctx context.Context, o ServeOptions, db *database, s *store.Store, pool *pgxpool.Pool, c *clock.Clock) (*services, error) {
	node := store.Node{Name: nodeName(c), Roles: o.Roles.String(), Version: o.Version}
	client := egress.New(egress.Options{
		Allow: o.Config.AllowNetworks,
		Deny:  ownAddresses(ctx, o.Config, db.url),
		Now:   c.Now,
	})
	v := &services{node: node, clock: c, store: s, egress: client, metrics: prometheus.NewRegistry()}
	told := metrics.New(v.metrics, o.Version)
	if err := v.startTracing(ctx, o); err != nil {
		return nil, err
	}
	if err := v.addPeople(o); err != nil {
		return nil, err
	}
	v.endpoints = endpoint.New(endpoint.Options{Store: s, Clock: c, CheckURL: client.CheckURLWith, MaxEndpoints: o.Config.AccountMaxEndpoints})
	v.deliver = deliver.New(deliver.Options{
		Store: s, Clock: c, Log: o.Log, Egress: client, Node: node.Name,
		Workers:      o.Config.Workers,
		Schedule:     o.Config.RetrySchedule,
		Timeout:      o.Config.DeliveryTimeout,
		DisableAfter: o.Config.DisableAfter,
		UserAgent:    "Rowlock/" + o.Version,
		Meter:        meterOf(told),
		Trace:        v.traceAttempt(),
	})
	v.watch(o, pool)
	v.decide = decide.New(decide.Options{Store: s, Clock: c, Log: o.Log, Node: node.Name, Wake: v.deliver.Wake, Tell: v.tellDecided(told)})
	v.claims = claim.New(claim.Options{Store: s, Clock: c})
	v.reconcile = reconcile.New(reconcile.Options{Store: s, Clock: c})
	v.operate = operate.New(operate.Options{Store: s, Clock: c, Wake: v.deliver.Wake})
	v.explore = explore.New(explore.Options{Store: s, Clock: c, Retention: o.Config.Retention})
	var reserve func() func([]gateway.EventID)
	if o.Roles.Worker {
		reserve = v.decide.Reserve
	}
	accepted := func(rows int, took time.Duration) { told.Committed(metrics.Accept, rows, took) }
	v.accept = accept.New(accept.Options{Store: s, Clock: c, Log: o.Log, Reserve: reserve, Timed: accepted, BaseURL: string(o.Config.BaseURL), Limits: accept.Limits{
		KeyEventsPerSecond:     o.Config.KeyEventsPerSecond,
		AccountEventsPerSecond: o.Config.AccountEventsPerSecond,
		AccountStoredBytes:     int64(o.Config.AccountStoredBytes),
		Retention:              o.Config.Retention,
	}})
	v.eventTypes = eventtype.New(eventtype.Options{Store: s, Clock: c, Changed: v.accept.ForgetEventTypes})
	v.sources = source.New(source.Options{Store: s, Clock: c, Changed: v.accept.ForgetSources})
	v.retain = retain.New(retain.Options{
		Store: s, Clock: c, Log: o.Log, Retention: o.Config.Retention, DedupeWindow: o.Config.DedupeWindow,
		ClaimRetention: o.Config.ClaimRetention,
	})
	var err error
	v.workers, err = river.NewClient(riverpgxv5.New(pool), worker.Config(worker.Options{
		Log: o.Log, Node: node.Name, Decide: v.decide, Deliver: v.deliver, Notify: v.notify, Operate: v.operate,
		Reconcile: v.reconcile, PollOnly: o.Config.PoolerURL != "",
	}))
	if err != nil {
		return nil, fmt.Errorf("make the queue's client: %w", err)
	}
	return v, nil
}

// followNotices acts on what other nodes tell, until ctx ends.
func (v *services) followNotices(ctx context.Context) {
	v.store.FollowNotices(ctx, store.Notices{Sources: v.forget, Relays: v.deliver.HearRelays})
}

// forget drops what is remembered of sources and types, which may have changed.
func (v *services) forget() {
	v.accept.ForgetSources()
	v.accept.ForgetEventTypes()
}

// addPeople makes what lets people in and writes to them.
func (v *services) addPeople(o ServeOptions) error {
	v.accounts = account.NewService(account.Options{
		Store: v.store, Clock: v.clock,
		Signup: o.Config.Signup, BaseURL: string(o.Config.BaseURL), SMTP: o.Config.SMTPURL != "",
	})
	var err error
	v.notify, err = notify.New(notify.Options{
		Store: v.store, Clock: v.clock, Log: o.Log,
		URL: o.Config.SMTPURL.Reveal(), BaseURL: string(o.Config.BaseURL),
		Egress: v.egress, UserAgent: "Rowlock/" + o.Version,
	})
	if err != nil {
		return fmt.Errorf("ROWLOCK_SMTP_URL is not valid: %w", err)
	}
	return nil
}

// nodeName is new at each start, so that a lane held under it is this
// process's and no other's.
func nodeName(c *clock.Clock) string {
	host, err := os.Hostname()
	if err != nil {
		host = "node"
	}
	id := c.NewID()
	return fmt.Sprintf("%s-%d-%x", host, os.Getpid(), id[10:])
}

// ownAddresses are what no delivery may reach: our listeners, and the
// database's address. What cannot be resolved now is left to the other rules.
func ownAddresses(ctx context.Context, c config.Config, databaseURL string) []netip.AddrPort {
	var own []netip.AddrPort
	for _, listen := range []string{string(c.Listen), string(c.MetricsListen)} {
		own = append(own, listenAddress(ctx, listen)...)
	}
	if parsed, err := pgx.ParseConfig(databaseURL); err == nil {
		own = append(own, hostAddresses(ctx, parsed.Host, strconv.Itoa(int(parsed.Port)))...)
		for _, other := range parsed.Fallbacks { // of a database with several hosts
			own = append(own, hostAddresses(ctx, other.Host, strconv.Itoa(int(other.Port)))...)
		}
	}
	if base, err := url.Parse(string(c.BaseURL)); err == nil && base.Port() != "" {
		own = append(own, hostAddresses(ctx, base.Hostname(), base.Port())...)
	}
	return own
}

func listenAddress(ctx context.Context, listen string) []netip.AddrPort {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil
	}
	if host == "" {
		return hostAddresses(ctx, "::", port)
	}
	return hostAddresses(ctx, host, port)
}

// resolveTimeout bounds one look-up of a name of our own at the start.
const resolveTimeout = 2 * time.Second

// hostAddresses are a host's. A database behind a socket's path is on this
// machine, and may listen on any of its addresses.
func hostAddresses(ctx context.Context, host, port string) []netip.AddrPort {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil
	}
	if filepath.IsAbs(host) {
		return []netip.AddrPort{netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(number))}
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	addresses := make([]netip.AddrPort, len(found))
	for i, a := range found {
		addresses[i] = netip.AddrPortFrom(a.Unmap(), uint16(number))
	}
	return addresses
}

// observe corrects the clock by one look at the database's.
func observe(ctx context.Context, s *store.Store, c *clock.Clock) error {
	sent := time.Now()
	now, err := s.Now(ctx)
	if err == nil {
		c.Observe(sent, time.Now(), now)
	}
	return err
}
