package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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
// looked at and, where something is wrong, what to do. It changes nothing. It
// returns an error when there was a fault; a note is none.
func Doctor(ctx context.Context, c config.Config, w io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	d := &doctor{w: w}
	d.address(c)
	d.proxies(c)
	d.mail(ctx, c)
	begun := d.masterKey(c)
	d.disk(c)
	if !begun {
		d.egress(ctx, c, "")
		d.warn("database", "nothing there yet: serve makes it")
		return d.result()
	}
	db, err := openDatabase(ctx, c, slog.New(slog.DiscardHandler))
	d.tell("database", describe(c), err)
	if err != nil {
		d.egress(ctx, c, "")
		return d.result()
	}
	defer func() { err = errors.Join(err, db.close(ctx)) }()
	d.egress(ctx, c, db.url)
	d.database(ctx, c, db.url)
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

// tell prints what was found, or the fault and what to do about it.
func (d *doctor) tell(what, found string, err error) {
	mark := "ok   "
	if err != nil {
		mark, found, d.fault = "FAULT", remedied(err), true
	}
	_, _ = fmt.Fprintf(d.w, "%s  %-14s %s\n", mark, what, found)
}

// remedied is an error with its hint, on one line.
func remedied(err error) string {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) && !poolerRefuses(connect) {
		return unreachable(connect).Error() + ". " + askConnection
	}
	err = Advise(err)
	text := err.Error()
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok && h.Hint() != "" {
		text += ". " + h.Hint()
	}
	return strings.Join(strings.Fields(text), " ")
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
