// Package throwaway runs a PostgreSQL server for tests: fast, because it may
// lose everything at a crash, and gone when its owner is gone.
package throwaway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

const (
	// startTimeout bounds initdb and the server's start, which take two
	// seconds on a quiet machine.
	startTimeout = 2 * time.Minute
	// stopGrace is the wait before each harder signal. Nothing on the server
	// is worth a long one.
	stopGrace = 5 * time.Second
	// portTries is how many free ports are tried: another process may take a
	// port between our look and the server's bind.
	portTries = 5
	// poll is the wait between two tries to connect to a starting server.
	poll = 20 * time.Millisecond
	// superuser is the role of the admin URL.
	superuser = "postgres"
)

// Server is a running throw-away server.
type Server struct {
	place    string
	settings []string
	dir      *dir
	url      string
	password string
	user     pgchild.User
	install  pgchild.Install
	process  *pgchild.Process
}

// Start makes and starts a server in a directory of its own. The error says
// how to get PostgreSQL when there is none.
func Start(ctx context.Context) (*Server, error) {
	return start(ctx, &Server{place: Place(), settings: fast})
}

// StartDurable is Start for a server that loses nothing at a crash: with the
// settings that PostgreSQL comes with, on a disk (that of the usual temporary
// directory), and with statements counted.
func StartDurable(ctx context.Context) (*Server, error) {
	return start(ctx, &Server{place: os.TempDir(), settings: durable})
}

func start(ctx context.Context, s *Server) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s.password = rand.Text()
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if err := s.initialise(ctx); err != nil {
		return nil, errors.Join(err, s.dir.remove())
	}
	if err := s.launch(ctx); err != nil {
		return nil, errors.Join(err, s.dir.remove())
	}
	return s, nil
}

// URL is the superuser's address of the database "postgres", over TCP.
func (s *Server) URL() string { return s.url }

// Stop ends the server and removes its directory.
func (s *Server) Stop(ctx context.Context) error {
	return errors.Join(s.process.Stop(ctx, stopGrace), s.dir.remove())
}

// prepare chooses the account and the programs and makes the directory.
func (s *Server) prepare(ctx context.Context) (err error) {
	if s.user, err = pgchild.Choose(""); err != nil {
		return err
	}
	if s.install, err = pgchild.Find(ctx, s.user); err != nil {
		return fmt.Errorf("%w: %s, or set ROWLOCK_TEST_DATABASE_URL to a running server's superuser address",
			err, pgchild.HowToInstall)
	}
	sweep(s.place)
	if s.dir, err = makeDir(s.place); err != nil {
		return err
	}
	if err = s.user.CheckReach(s.dir.path); err != nil {
		return errors.Join(fmt.Errorf("%w: set TMPDIR to a directory it can enter", err), s.dir.remove())
	}
	return nil
}

func (s *Server) cluster() string { return filepath.Join(s.dir.path, "cluster") }

// initialise runs initdb. Another user of this machine must not become
// superuser over loopback, hence the password.
func (s *Server) initialise(ctx context.Context) error {
	secret := filepath.Join(s.dir.path, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return fmt.Errorf("write the superuser's password: %w", err)
	}
	for _, path := range []string{s.dir.path, secret} {
		if err := s.user.Own(path); err != nil {
			return err
		}
	}
	return pgchild.Run(ctx, pgchild.Command{
		Program: s.install.Program("initdb"),
		Args: []string{
			"--pgdata", s.cluster(), "--username", superuser, "--pwfile", secret,
			"--auth-local", "peer", "--auth-host", "scram-sha-256",
			"--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions",
		},
		User: s.user,
	})
}

// launch starts the server on a free port and returns when it answers.
func (s *Server) launch(ctx context.Context) error {
	var failed error
	for range portTries {
		port, err := freePort(ctx)
		if err != nil {
			return err
		}
		if failed = s.launchOn(ctx, port); failed == nil {
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

func (s *Server) launchOn(ctx context.Context, port int) (err error) {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close() //nolint:errcheck // the server has its own handle
	s.process, err = pgchild.Start(pgchild.Command{
		Program: s.install.Program("postgres"),
		Args:    append([]string{"-D", s.cluster()}, arguments(s.settings, s.dir.path, port)...),
		User:    s.user,
		Output:  log,
	})
	if err != nil {
		return err
	}
	s.url = address(s.password, port)
	if err := s.await(ctx); err != nil {
		return errors.Join(err, s.process.Stop(ctx, stopGrace))
	}
	return nil
}

// await returns when the server answers, or why it never will.
func (s *Server) await(ctx context.Context) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.process.Done():
			text, _ := os.ReadFile(s.log())
			return fmt.Errorf("start PostgreSQL: %w: %s", s.process.Err(), text)
		case <-ctx.Done():
			return fmt.Errorf("wait for PostgreSQL to answer: %w", err)
		case <-tick.C:
		}
	}
}

func (s *Server) log() string { return filepath.Join(s.dir.path, "postgres.log") }

// fast trades safety at a crash for speed, and keeps what the product's
// behaviour depends on: commits still wait for their (unsynced) write.
var fast = []string{
	"max_connections=500", // packages run side by side, each with several pools
	"fsync=off",
	"synchronous_commit=on",
	"full_page_writes=off",
	"autovacuum=off", // hundreds of short-lived databases would keep it busy, and plans would depend on it
	"checkpoint_timeout=1h",
	"max_wal_size=512MB",
	"log_checkpoints=off",
	"timezone=UTC",
}

// durable leaves everything as it comes.
var durable = []string{"shared_preload_libraries=pg_stat_statements"}

func arguments(settings []string, dir string, port int) (args []string) {
	where := []string{"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(port), "unix_socket_directories=" + dir}
	for _, v := range append(where, settings...) {
		args = append(args, "-c", v)
	}
	return args
}

func address(password string, port int) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close() //nolint:errcheck // only the number is wanted
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("find a free port: %w", fs.ErrInvalid)
	}
	return addr.Port, nil
}
