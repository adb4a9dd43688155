package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

const (
	// startLimit bounds initdb, and a start with recovery after a crash.
	startLimit = 2 * time.Minute
	// stopGrace is the wait before each harder signal.
	stopGrace = 10 * time.Second
	superuser = "postgres"
)

// cluster is a PostgreSQL that can be killed: it keeps what it committed, as an
// operator's does.
type cluster struct {
	dir      string
	password string
	port     int
	user     pgchild.User
	install  pgchild.Install
	process  *pgchild.Process
	// template is the database that others are copied from, if there is one.
	template string
	// settings are more of the server's, NAME=value.
	settings []string
}

// newCluster makes a cluster in a directory below parent, and starts it.
func newCluster(ctx context.Context, parent string) (*cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c := &cluster{password: rand.Text()}
	var err error
	if c.port, err = freePort(); err != nil {
		return nil, err
	}
	if err := c.place(ctx, parent); err != nil {
		return nil, err
	}
	if err := c.initialise(ctx); err != nil {
		return nil, err
	}
	return c, c.start(ctx)
}

// place chooses the account, the programs and the directory.
func (c *cluster) place(ctx context.Context, parent string) (err error) {
	if c.user, err = pgchild.Choose(""); err != nil {
		return err
	}
	if c.install, err = pgchild.Find(ctx, c.user); err != nil {
		return fmt.Errorf("%w: %s", err, pgchild.HowToInstall)
	}
	if c.dir, err = os.MkdirTemp(parent, "pg-"); err != nil {
		return fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	return errors.Join(c.user.CheckReach(c.dir), c.user.Own(c.dir))
}

func (c *cluster) initialise(ctx context.Context) error {
	secret := filepath.Join(c.dir, "password")
	if err := os.WriteFile(secret, []byte(c.password), 0o600); err != nil {
		return fmt.Errorf("write the superuser's password: %w", err)
	}
	if err := c.user.Own(secret); err != nil {
		return err
	}
	return pgchild.Run(ctx, pgchild.Command{
		Program: c.install.Program("initdb"),
		Args: []string{
			"--pgdata", filepath.Join(c.dir, "data"), "--username", superuser, "--pwfile", secret,
			"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions",
		},
		User: c.user,
	})
}

// start runs the server on its port, and returns when it answers. After a kill
// its children may live on for a moment, and keep a new server from starting.
func (c *cluster) start(ctx context.Context) error { return c.startOn(ctx, c.port) }

func (c *cluster) startOn(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		err := c.launch(ctx, port)
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

func (c *cluster) launch(ctx context.Context, port int) (err error) {
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close() //nolint:errcheck // the server has its own handle
	args := []string{
		"-D", filepath.Join(c.dir, "data"), "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "max_connections=300", // several tests have several nodes each
	}
	for _, setting := range c.settings {
		args = append(args, "-c", setting)
	}
	c.process, err = pgchild.Start(pgchild.Command{
		Program: c.install.Program("postgres"),
		Args:    args,
		User:    c.user,
		Output:  log,
	})
	if err != nil {
		return err
	}
	return c.answers(ctx, port)
}

// answers waits for the server to take connections.
func (c *cluster) answers(ctx context.Context, port int) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.url("postgres", port))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-c.process.Done():
			return fmt.Errorf("start PostgreSQL: %w", c.process.Err())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("wait for PostgreSQL to answer: %w", err), c.stop(ctx))
		case <-tick.C:
		}
	}
}

// kill ends the server without a chance to do anything; its children end when
// they see it gone.
func (c *cluster) kill() error {
	err := c.process.Signal(syscall.SIGKILL)
	<-c.process.Done()
	return err
}

func (c *cluster) stop(ctx context.Context) error { return c.process.Stop(ctx, stopGrace) }

// url is the superuser's address of a database.
func (c *cluster) url(database string, port int) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, c.password),
		Host: loopback(port), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}
