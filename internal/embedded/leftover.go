package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// settleLeftOver deals with a server that nobody owns. One that Rowlock
// started has lost its owner: it is dying already, or, where the system has no
// signal for that, is stopped here, so that the new one is this process's
// child. One that an operator started by hand is used as it is.
func (s *Server) settleLeftOver(ctx context.Context) (byHand bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ownerTimeout, fmt.Errorf(
		"the process that is named in %s does not answer: stop it; if it is not PostgreSQL, remove that file",
		s.layout.pidFile()))
	defer cancel()
	err = until(ctx, func() (done bool, err error) {
		done, byHand, err = s.settle(ctx)
		return done, err
	})
	if err != nil {
		return false, fmt.Errorf("wait for the server that runs already: %w", err)
	}
	return byHand, nil
}

// settle takes one look at the process that postmaster.pid names.
func (s *Server) settle(ctx context.Context) (done, byHand bool, err error) {
	pid, err := s.layout.postmaster()
	if err != nil {
		return false, false, err
	}
	if !present(pid) {
		// A killed server's sessions may outlive it for a moment.
		return !occupied(s.layout.cluster), false, nil
	}
	if foreign(pid, s.layout.cluster) {
		return true, false, s.setAside(pid)
	}
	ours, err := s.startedByUs(ctx)
	if err != nil {
		return false, false, nil //nolint:nilerr // it is starting or stopping
	}
	if !ours {
		return true, true, nil
	}
	return false, false, s.interrupt(pid)
}

// interrupt asks the server for a fast shutdown.
func (s *Server) interrupt(pid int) error {
	s.log.Warn("stopping an embedded PostgreSQL whose owner is gone", "pid", pid)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	return nil
}

// startedByUs asks the running server who started it.
func (s *Server) startedByUs(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.layout.url(role, database))
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx) //nolint:errcheck // only read from
	var name string
	err = conn.QueryRow(ctx, `SHOW cluster_name`).Scan(&name)
	return name == clusterName, err
}

// setAside renames a postmaster.pid whose process id now belongs to a process
// that is not PostgreSQL, as happens after a restart of the machine or of a
// container. PostgreSQL itself cannot tell and would refuse to start.
func (s *Server) setAside(pid int) error {
	aside := s.layout.pidFile() + ".stale"
	err := os.Rename(s.layout.pidFile(), aside)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the server may just have removed it
		return fmt.Errorf("set a stale postmaster.pid aside: %w", err)
	}
	if err == nil {
		s.log.Warn("set a stale postmaster.pid aside", "pid", pid, "renamed", aside)
	}
	return nil
}
