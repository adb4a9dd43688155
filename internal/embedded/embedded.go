// Package embedded runs a private PostgreSQL server for installations that
// have none of their own.
//
// The cluster lives in the directory "postgres" under the data directory and
// is served over a Unix socket inside it, and nowhere else: there is no port
// to scan, collide on or reach with a forged request, and no password to keep.
// The kernel tells the server who connects (peer authentication), and it lets
// in the account that runs Rowlock, the account that PostgreSQL runs under,
// and root.
//
// No code path here removes or empties a cluster. A new one is made under
// another name and renamed when it is complete; one of a version that cannot
// be served stops the start.
//
// The process that started the server owns it: the server stops with it, even
// when it is killed with SIGKILL (on Linux; elsewhere the next owner finds the
// server running, stops it in order and starts its own). Other processes may
// use the server meanwhile.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

const (
	// stopGrace is the wait for a fast shutdown before an immediate one. It
	// has to write out what changed since the last checkpoint.
	stopGrace = 15 * time.Second
	// guestPoll is the wait between two looks at another process's server.
	guestPoll = time.Second
)

// Options say where the server lives.
type Options struct {
	// Dir is the data directory; it is made when missing. The cluster goes to
	// Dir/postgres, the server's log to Dir/postgres.log.
	Dir string
	// Log takes what an operator should know; nil discards it.
	Log *slog.Logger
}

// Server is a running private server.
type Server struct {
	layout     layout
	log        *slog.Logger
	repository string // where programs are fetched from

	// process and owner are nil for a guest, to whom watch belongs.
	process *pgchild.Process
	owner   *ownership
	watch   *watch
}

// Start returns the server of a data directory when it answers: one that it
// starts, or one that runs already. On the first start it makes the cluster,
// for which it needs PostgreSQL's programs; it fetches them when this machine
// has none. A server that was left by kill -9 recovers first, which ctx bounds.
func Start(ctx context.Context, o Options) (*Server, error) {
	s, err := start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start the embedded PostgreSQL: %w", err)
	}
	return s, nil
}

func start(ctx context.Context, o Options) (*Server, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l, err := newLayout(o.Dir)
	if err != nil {
		return nil, err
	}
	user, err := pgchild.Choose(l.cluster)
	if err != nil {
		return nil, err
	}
	if err := l.prepare(user); err != nil {
		return nil, err
	}
	s := &Server{layout: l, log: log, repository: mavenCentral}
	if err := s.attach(ctx, user); err != nil {
		return nil, err
	}
	return s, nil
}

// attach becomes the owner and starts the server, or a guest of one that runs.
func (s *Server) attach(ctx context.Context, user pgchild.User) error {
	owner, err := s.layout.await(ctx)
	if err != nil {
		return err
	}
	if owner == nil {
		return s.visit() //nolint:contextcheck // the watch lasts as long as s
	}
	if err := s.own(ctx, user); err != nil {
		return errors.Join(err, owner.release())
	}
	if s.process == nil {
		return errors.Join(s.visit(), owner.release()) //nolint:contextcheck // as above
	}
	s.owner = owner
	return nil
}

// visit makes s a guest of a server that is not its to stop.
func (s *Server) visit() error {
	pid, err := s.layout.postmaster()
	if err != nil {
		return err
	}
	s.log.Info("using the embedded PostgreSQL that runs already", "pid", pid, "dir", s.layout.cluster)
	s.watch = watchProcess(pid)
	return nil
}

// own starts the server, unless one runs that an operator has started by hand:
// then s.process stays nil.
func (s *Server) own(ctx context.Context, user pgchild.User) error {
	byHand, err := s.settleLeftOver(ctx)
	if err != nil || byHand {
		return err
	}
	install, err := s.ensureCluster(ctx, user)
	if err != nil {
		return err
	}
	return s.launch(ctx, install, user)
}

// URL is the address of the product's database, for the product's role, which
// owns the database and is no superuser. It holds no secret.
func (s *Server) URL() string { return s.layout.url(role, database) }

// Done is closed when the server has ended, for whatever reason.
func (s *Server) Done() <-chan struct{} {
	if s.process != nil {
		return s.process.Done()
	}
	return s.watch.done
}

// Stop ends the server in order and returns when it has ended: sessions are
// cut, changes written; harder when that takes longer than 15 seconds or ctx
// ends. It leaves alone a server that another process has started. Stopping
// twice is no error.
func (s *Server) Stop(ctx context.Context) error {
	if s.process == nil {
		s.watch.stop()
		return nil
	}
	err := s.process.Stop(ctx, stopGrace)
	return errors.Join(err, s.owner.release())
}
