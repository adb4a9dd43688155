package embedded

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// poll is the wait between two looks at something that gives no signal.
	poll = 50 * time.Millisecond
	// probeTimeout bounds one try to connect.
	probeTimeout = 5 * time.Second
)

// until looks again and again, until done or an error. When ctx ends it
// returns the cause.
func until(ctx context.Context, look func() (done bool, err error)) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// probe connects once.
func probe(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// present reports whether a process id is taken and may be signalled from
// here. That of a server of the same data directory always may be: it runs
// under the same account, or this process is root.
func present(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }

// alive reports whether a process runs. One that has ended and was not waited
// for, as under a container's first process, keeps its id and is not alive.
func alive(pid int) bool { return present(pid) && !ghost(pid) }

// ghost reports that a process has ended and was not waited for. It is false
// where there is no /proc.
func ghost(pid int) bool {
	if _, err := os.Readlink("/proc/self/cwd"); err != nil {
		return false
	}
	_, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd"))
	return errors.Is(err, fs.ErrNotExist)
}

// foreign reports that process pid is certainly not this cluster's server, and
// that no other process works in the cluster. It is false when that cannot be
// known, as on systems without /proc.
func foreign(pid int, cluster string) bool {
	_, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd"))
	return (err == nil || ghost(pid)) && !occupied(cluster)
}

// occupied reports that some process works in the cluster: every process of a
// server has it as its directory. It is false where there is no /proc.
func occupied(cluster string) bool {
	real, err := filepath.EvalSymlinks(cluster)
	if err != nil {
		return false
	}
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return false
	}
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && cwd == real {
			return true
		}
	}
	return false
}
