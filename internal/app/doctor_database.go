package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/retain"
	"github.com/rowlock/rowlock/internal/store"
)

// shortStatement is below what exports, retention and large operations may take
// in one statement.
const shortStatement = time.Minute

// daysWanted are as many days as a node makes ahead.
const daysWanted = 30

// Settings of the server that are looked at.
const (
	fsync          = "fsync"
	fullPageWrites = "full_page_writes"
	commit         = "synchronous_commit"
	standbys       = "synchronous_standby_names"
	autovacuum     = "autovacuum"
	trackCounts    = "track_counts"
	encoding       = "server_encoding"
	readOnly       = "transaction_read_only"
	isolation      = "transaction_isolation"
	statementTime  = "statement_timeout"
	transactTime   = "transaction_timeout"
)

var lookedAt = []string{fsync, fullPageWrites, commit, standbys, autovacuum, trackCounts, encoding, readOnly, isolation, statementTime, transactTime}

// database looks at the server, at the way to it and at what is in it.
func (d *doctor) database(ctx context.Context, c config.Config, url string) {
	pool, err := store.Connect(ctx, url, 1)
	if err == nil {
		defer pool.Close()
		err = pool.Ping(ctx)
	}
	d.tell("connection", "the database answers", err)
	if err != nil {
		return
	}
	d.version(store.ServerVersion(ctx, pool))
	if !d.pooler(ctx, pool) {
		return
	}
	if c.PoolerURL != "" {
		d.inFront(ctx, c.PoolerURL.Reveal())
	}
	writable := d.server(ctx, pool)
	d.compression(ctx, pool)
	migrated := writable && d.migrations(ctx, c, url)
	if migrated {
		d.indexes(ctx, url)
		d.keyset(ctx, c, pool)
		d.days(ctx, pool)
	}
	each := store.NodeConnections
	if c.PoolerURL != "" {
		each = store.SessionConnections
	}
	d.connections(ctx, pool, migrated, each)
	d.clock(ctx, pool)
}

func (d *doctor) version(number int, err error) {
	if err == nil && number < minPostgres {
		err = fmt.Errorf("PostgreSQL %d is too old: 15 or newer is needed", number/10000)
	}
	d.tell("version", fmt.Sprintf("PostgreSQL %d.%d", number/10000, number%10000), err)
}

// pooler looks at what stands in between. It returns whether a session lasts: where
// one is lent by the transaction, nothing else can be looked at.
func (d *doctor) pooler(ctx context.Context, pool store.Pool) (lasts bool) {
	const what = "session"
	found, err := store.LookForPooler(ctx, pool)
	if err == nil && found == store.PoolingTransaction {
		err = errors.New("a pooler stands in between, in transaction mode: what listens hears nothing, and locks of migrations do not hold. " + connectDirectly)
	}
	if err != nil {
		d.tell(what, "", err)
		return false
	}
	lost, err := store.LostSettings(ctx, pool)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("%s do not hold although they were asked for: a pooler drops them, and a process that is frozen would keep its locks. %s", strings.Join(lost, ", "), connectDirectly)
	}
	if err == nil && found == store.PoolingSession {
		d.warn(what, "a pooler stands in between, in session mode: it helps nothing, and its limits count. "+connectDirectly)
		return true
	}
	d.tell(what, "no pooler in between; the session's settings hold", err)
	return true
}

// inFront looks at the pooler that queries go through.
func (d *doctor) inFront(ctx context.Context, url string) {
	pool, err := store.ConnectPooler(ctx, url, 1)
	if err == nil {
		defer pool.Close()
		err = pool.Ping(ctx)
	}
	if err != nil {
		d.tell("pooler", "", err)
		return
	}
	lost, err := store.LostSettings(ctx, pool)
	if err == nil && len(lost) > 0 {
		d.warn("pooler", "a session of the pooler began before "+strings.Join(lost, ", ")+" were kept for this role, which a start of serve does: say RECONNECT in the pooler's console")
		return
	}
	d.tell("pooler", "it answers, and its sessions have the settings that are kept for this role", err)
}

// server looks at the settings of the server as they hold for the product. It
// returns whether it takes writes, without which migrations cannot be looked at.
func (d *doctor) server(ctx context.Context, pool store.Pool) (writable bool) {
	settings, err := store.ServerSettings(ctx, pool, lookedAt)
	if err != nil {
		d.tell("settings", "", err)
		return false
	}
	d.tell("durability", "what was committed survives a crash", durability(settings))
	if settings[commit] == "local" && settings[standbys] != "" {
		d.warn("durability", "synchronous_commit is local: what was acknowledged last is lost if a standby takes over. Set it to on")
	}
	d.tell("upkeep", "autovacuum is on", upkeep(settings))
	d.tell("writes", "the database takes them, in UTF8, each statement with what is committed", writes(settings))
	d.timeouts(settings)
	return settings[readOnly] == "off"
}

// durability tells why an acknowledged event could be lost.
func durability(settings map[string]string) error {
	switch {
	case settings[fsync] == "off":
		return errors.New("fsync is off: a crash of the machine loses what was acknowledged, and may spoil the database. Set fsync = on in postgresql.conf and reload")
	case settings[fullPageWrites] == "off":
		return errors.New("full_page_writes is off: a crash of the machine may spoil the database. Set full_page_writes = on in postgresql.conf and reload")
	case settings[commit] == "off":
		return errors.New("synchronous_commit is off: a crash of the server loses what was acknowledged last. Set synchronous_commit = on, for the role or the database too if they have it otherwise")
	}
	return nil
}

// upkeep tells why tables would grow without end.
func upkeep(settings map[string]string) error {
	for _, name := range []string{autovacuum, trackCounts} {
		if settings[name] == "off" {
			return fmt.Errorf("%s is off: tables grow until they are slow, and in the end the server takes no more writes. Set %s = on in postgresql.conf and reload", name, name)
		}
	}
	return nil
}

// writes tells what keeps the product's statements from doing what they say.
func writes(settings map[string]string) error {
	switch {
	case settings[readOnly] == "on":
		return errors.New("the database takes no writes: name the primary in ROWLOCK_DATABASE_URL, and look for default_transaction_read_only")
	case settings[encoding] != "UTF8":
		return fmt.Errorf("the database's encoding is %s: make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0", settings[encoding])
	case settings[isolation] != "read committed":
		return fmt.Errorf("transactions are %s here, under which guards fail that should wait: set default_transaction_isolation = 'read committed', for the role or the database too if they have it otherwise", settings[isolation])
	}
	return nil
}

// timeouts tells of limits that end what has to take its time.
func (d *doctor) timeouts(settings map[string]string) {
	var short []string
	for _, name := range []string{statementTime, transactTime} {
		ms, err := strconv.Atoi(settings[name]) // an older server has not got it
		if limit := time.Duration(ms) * time.Millisecond; err == nil && ms > 0 && limit < shortStatement {
			short = append(short, fmt.Sprintf("%s is %s", name, limit))
		}
	}
	if len(short) > 0 {
		d.warn("timeouts", strings.Join(short, " and ")+": exports, retention and migrations can be cut off. Set 0 for the role: ALTER ROLE … SET statement_timeout = 0")
		return
	}
	d.tell("timeouts", "nothing is cut off", nil)
}

func (d *doctor) compression(ctx context.Context, pool store.Pool) {
	has, err := store.HasLZ4(ctx, pool)
	if err == nil && !has {
		d.warn("compression", "this PostgreSQL was built without lz4: bodies are stored with pglz, which is slower. The packages of Debian and of PostgreSQL have it")
		return
	}
	d.tell("compression", "lz4", err)
}

// indexes tells of those that are still being built: without them some lists are
// slower, and nothing else.
func (d *doctor) indexes(ctx context.Context, url string) {
	const what = "indexes"
	left, err := migrate.Unbuilt(ctx, url)
	if err != nil || len(left) == 0 {
		d.tell(what, "all built", err)
		return
	}
	for _, i := range left {
		d.warn(what, describeUnbuilt(i)+": a node with the role worker builds the rest, beside the traffic")
	}
}

// days looks how many are made ahead. Nodes make them as long as they run, so
// that a shortage is a fault only where one does.
func (d *doctor) days(ctx context.Context, pool store.Pool) {
	ahead, err := store.DaysAhead(ctx, pool, daysWanted)
	if err == nil && ahead < retain.DaysNeeded {
		nodes, problem := aliveNodes(ctx, pool)
		if problem == nil && nodes == 0 {
			d.warn("partitions", "the big tables have none for the days to come: serve makes them when it starts")
			return
		}
		err = errors.Join(problem, fmt.Errorf("the big tables have %d days ahead and need %d, although nodes run: look in their logs for why they make none", max(ahead, 0), retain.DaysNeeded))
	}
	d.tell("partitions", fmt.Sprintf("%d days ahead", ahead), err)
}

// connections compares what nodes may take with what there is.
func (d *doctor) connections(ctx context.Context, pool store.Pool, migrated bool, each int) {
	const what = "connections"
	room, err := store.ConnectionRoom(ctx, pool)
	nodes := 0
	if err == nil && migrated {
		nodes, err = aliveNodes(ctx, pool)
	}
	if err != nil {
		d.tell(what, "", err)
		return
	}
	nodes = max(nodes, 1)
	found := fmt.Sprintf("%d of %d for %s", nodes*each, room, plural(nodes, "node"))
	switch need := nodes * each; {
	case need > room:
		d.tell(what, "", fmt.Errorf("%s may take %d connections, and there are %d: raise max_connections, or the limit of the role or the database", plural(nodes, "node"), need, room))
	case need+each > room:
		d.warn(what, found+", and no room for one more: raise max_connections before you start another")
	default:
		d.tell(what, found, nil)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// aliveNodes is how many nodes run on a database that is migrated.
func aliveNodes(ctx context.Context, pool store.Pool) (int, error) {
	s, err := store.New(pool, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return 0, err
	}
	nodes, err := s.KeysOfNodes(ctx)
	return len(nodes), err
}
