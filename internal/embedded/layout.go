package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

const (
	// role and database are the product's own; superuser makes them.
	role      = "rowlock"
	database  = "rowlock"
	superuser = "postgres"

	// socketPort is only a part of the socket's name.
	socketPort = 5432
	// socketPathMax is the longest path, in bytes, that every kernel takes for
	// a Unix socket (macOS 103, Linux 107).
	socketPathMax = 103

	dirMode  = 0o755 // PostgreSQL's account passes through on its way to the cluster
	fileMode = 0o600
)

// layout is where things are under a data directory. All paths are absolute.
type layout struct {
	dir      string // the data directory
	cluster  string // PostgreSQL's data directory
	log      string // what PostgreSQL writes to standard error
	lock     string // held by the owner of the server
	binaries string // fetched programs
}

func newLayout(dir string) (layout, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, fmt.Errorf("find the data directory: %w", err)
	}
	return layout{
		dir:      abs,
		cluster:  filepath.Join(abs, "postgres"),
		log:      filepath.Join(abs, "postgres.log"),
		lock:     filepath.Join(abs, "postgres.lock"),
		binaries: filepath.Join(abs, "postgres-binaries"),
	}, nil
}

// prepare makes the data directory and checks that PostgreSQL can work there.
func (l layout) prepare(user pgchild.User) error {
	if socket := l.socket(); len(socket) > socketPathMax {
		return fmt.Errorf("the data directory's path is too long: the socket %s would have %d bytes, the system takes %d: "+
			"choose a shorter ROWLOCK_DATA_DIR", socket, len(socket), socketPathMax)
	}
	// Before anything is made, and again for what was made under this
	// process's umask.
	if err := l.checkReach(user); err != nil {
		return err
	}
	if err := os.MkdirAll(l.dir, dirMode); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	return l.checkReach(user)
}

// checkReach explains what to do when the cluster's account cannot get there.
// The directories on the way may be private for a reason: they are not ours
// to open.
func (l layout) checkReach(user pgchild.User) error {
	err := user.CheckReach(l.cluster)
	if unreachable, ok := errors.AsType[*pgchild.UnreachableError](err); ok {
		return fmt.Errorf("%w: set ROWLOCK_DATA_DIR to a directory outside %s such as /var/lib/rowlock, "+
			"or run rowlock as a user other than root, or allow it with: chmod o+x %s",
			err, unreachable.Dir, unreachable.Dir)
	}
	return err
}

func (l layout) socket() string {
	return filepath.Join(l.cluster, ".s.PGSQL."+strconv.Itoa(socketPort))
}

// url is the address of a database over the socket.
func (l layout) url(user, database string) string {
	query := url.Values{
		"host":    {l.cluster},
		"port":    {strconv.Itoa(socketPort)},
		"user":    {user},
		"sslmode": {"disable"},
	}
	// Clients of PostgreSQL take a plus sign as it is, not as a space.
	u := url.URL{Scheme: "postgres", Path: "/" + database, RawQuery: strings.ReplaceAll(query.Encode(), "+", "%20")}
	return u.String()
}

// postmaster returns the process id in the cluster's postmaster.pid, 0 when
// there is none. It need not be alive.
func (l layout) postmaster() (int, error) {
	text, err := os.ReadFile(l.pidFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return 0, fmt.Errorf("read who runs PostgreSQL: %w: run as the user that owns %s, or as root", err, l.cluster)
	}
	if err != nil {
		return 0, fmt.Errorf("read who runs PostgreSQL: %w", err)
	}
	return parsePID(string(text)), nil
}

func (l layout) pidFile() string { return filepath.Join(l.cluster, "postmaster.pid") }

// parsePID reads the first line of a postmaster.pid, 0 when it has no process
// id: PostgreSQL makes the file and then writes it.
func parsePID(text string) int {
	line, _, _ := strings.Cut(text, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0
	}
	return max(pid, 0)
}

// version returns the major version of the cluster, 0 when there is none yet.
func (l layout) version() (int, error) {
	text, err := os.ReadFile(filepath.Join(l.cluster, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, l.checkAbsent()
	}
	if err != nil {
		return 0, fmt.Errorf("read the cluster's version: %w: run as the user that owns %s", err, l.cluster)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the cluster's version: %s holds %q", filepath.Join(l.cluster, "PG_VERSION"), text)
	}
	return major, nil
}

// checkAbsent makes sure that nothing stands where a cluster is to be.
func (l layout) checkAbsent() error {
	entries, err := os.ReadDir(l.cluster)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a cluster: %w", err)
	}
	return fmt.Errorf("%s holds files but is no PostgreSQL data directory (it has no PG_VERSION): "+
		"move it away, or set ROWLOCK_DATA_DIR to another directory; nothing was changed", l.cluster)
}
