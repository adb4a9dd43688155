package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// doctorTimeout bounds all checks together.
	doctorTimeout = 60 * time.Second
	// maxSkew is how far a node's clock may be off before a person should look;
	// Rowlock corrects it, logs of different machines do not.
	maxSkew = 5 * time.Second
	// minDisk is how much room the data directory should have.
	minDisk = 1 << 30
	// minPostgres is the oldest server version that is supported, as
	// server_version_num.
	minPostgres = 150000
)

// errFault tells that Doctor found something.
var errFault = errors.New("a check failed: see above")

// doctor prints one line a check.
type doctor struct {
	w     io.Writer
	fault bool
	// noKey is set when there is no master key, so that none is made.
	noKey bool
}

// Doctor checks what a process needs and prints one line a check: what was
// looked at and, for a fault, what to do. It returns an error when there was
// a fault.
func Doctor(ctx context.Context, c config.Config, w io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	d := &doctor{w: w}
	begun := d.masterKey(c)
	d.disk(c)
	d.egress(ctx)
	if !begun {
		d.warn("database", "nothing there yet: serve makes it")
		return d.result()
	}
	db, err := openDatabase(ctx, c, slog.New(slog.DiscardHandler))
	d.tell("database", describe(c), err)
	if err == nil {
		defer func() { err = errors.Join(err, db.close(ctx)) }()
		d.database(ctx, c, db.url)
	}
	return d.result()
}

func (d *doctor) result() error {
	if d.fault {
		return errFault
	}
	return nil
}

// What the embedded database leaves in a data directory: its own files, and the
// key that opens the secrets in them.
const (
	clusterFile = "postgres/PG_VERSION"
	keyFile     = "master.key"
)

// masterKey looks for the key and makes none: that is for serve to do. It
// returns whether there is a database to look at.
func (d *doctor) masterKey(c config.Config) (begun bool) {
	begun = !c.Embedded() || exists(c.DataDir, clusterFile)
	switch {
	case !c.Embedded() || c.MasterKey != "" || exists(c.DataDir, keyFile):
		_, _, err := masterKey(c)
		d.tell("master key", "set", err)
	case begun:
		d.noKey = true
		d.tell("master key", "", fmt.Errorf("%s is gone: restore it from a backup, or set ROWLOCK_MASTER_KEY: the stored secrets open with no other key",
			filepath.Join(c.DataDir, keyFile)))
	default:
		d.warn("master key", "nothing there yet: serve makes it")
	}
	return begun
}

// exists tells whether a file is there; one that cannot be looked at is.
func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	return !errors.Is(err, fs.ErrNotExist)
}

func describe(c config.Config) string {
	if c.Embedded() {
		return "embedded PostgreSQL under " + c.DataDir
	}
	return c.DatabaseURL.String()
}

func (d *doctor) tell(what, found string, err error) {
	mark := "ok   "
	if err != nil {
		mark, found, d.fault = "FAULT", Advise(err).Error(), true
	}
	_, _ = fmt.Fprintf(d.w, "%s  %-14s %s\n", mark, what, found)
}

func (d *doctor) warn(what, found string) {
	_, _ = fmt.Fprintf(d.w, "note   %-14s %s\n", what, found)
}

// disk looks at the room under the data directory, or where it would be.
func (d *doctor) disk(c config.Config) {
	dir, err := filepath.Abs(c.DataDir)
	for err == nil {
		if _, missing := os.Stat(dir); missing == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	var fs syscall.Statfs_t
	if err == nil {
		err = syscall.Statfs(dir, &fs)
	}
	free := fs.Bavail * uint64(fs.Bsize) //nolint:gosec // a block size is positive
	if err == nil && free < minDisk {
		err = fmt.Errorf("%d MiB free under %s: make room", free>>20, dir)
	}
	d.tell("disk", fmt.Sprintf("%d GiB free under %s", free>>30, dir), err)
}

// egress resolves a name that always exists. A closed network is no fault:
// endpoints may all be inside it.
func (d *doctor) egress(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	if _, err := net.DefaultResolver.LookupNetIP(ctx, "ip", "example.com"); err != nil {
		d.warn("egress", "public names do not resolve here: deliveries to public addresses will fail")
		return
	}
	d.tell("egress", "public names resolve", nil)
}

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
	if d.migrations(ctx, c, url) {
		d.keyset(ctx, c, pool)
	}
	d.clock(ctx, pool)
}

// migrations returns whether all are applied. Those that the next start applies
// by itself are no fault.
func (d *doctor) migrations(ctx context.Context, c config.Config, url string) bool {
	err := migrate.Check(ctx, url)
	if errors.Is(err, migrate.ErrPending) && c.AutoMigrate {
		d.warn("migrations", "some are missing: serve applies them when it starts")
		return false
	}
	d.tell("migrations", "all applied", err)
	return err == nil
}

// keyset opens the stored keyset with the master key, and makes neither.
func (d *doctor) keyset(ctx context.Context, c config.Config, pool *pgxpool.Pool) {
	if d.noKey {
		return
	}
	current, previous, err := masterKey(c)
	if err != nil {
		return // told already
	}
	state, err := store.StoredKeyset(ctx, pool)
	if errors.Is(err, gateway.ErrNotFound) {
		d.warn("keyset", "nothing there yet: serve makes it")
		return
	}
	var sealer *secret.Sealer
	if err == nil {
		sealer, err = secret.Open(state.Wrapped, current, previous...)
	}
	if err != nil {
		d.tell("keyset", "", err)
		return
	}
	d.tell("keyset", fmt.Sprintf("opens with the master key; key %s is in use for %s; %d older kept for reading",
		sealer.KeyID(), age(state.Age), len(sealer.KeyIDs())-1), nil)
	switch {
	case state.Unfinished():
		d.warn("keyset", "a rotation was begun and did not come to its end: run `rowlock keys rotate` again")
	case sealer.Outdated():
		d.warn("keyset", "opens with the former master key alone: run `rowlock keys rotate`, then take ROWLOCK_MASTER_KEY_PREVIOUS out")
	}
}

// age is how long something has lasted, as people say it.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Hour:
		return "less than an hour"
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d days", d/day)
	}
}

func (d *doctor) version(number int, err error) {
	if err == nil && number < minPostgres {
		err = fmt.Errorf("PostgreSQL %d is too old: 15 or newer is needed", number/10000)
	}
	d.tell("version", fmt.Sprintf("PostgreSQL %d.%d", number/10000, number%10000), err)
}

// clock compares the node's clock with the database's.
func (d *doctor) clock(ctx context.Context, pool store.Pool) {
	c := clock.New()
	sent := time.Now()
	now, err := store.ServerTime(ctx, pool)
	if err != nil {
		d.tell("clock", "", err)
		return
	}
	c.Observe(sent, time.Now(), now)
	skew := c.Offset().Round(time.Millisecond)
	if skew.Abs() > maxSkew {
		d.warn("clock", fmt.Sprintf("this machine is %s away from the database; Rowlock follows the database, but set the clock", skew))
		return
	}
	d.tell("clock", fmt.Sprintf("%s away from the database", skew), nil)
}
