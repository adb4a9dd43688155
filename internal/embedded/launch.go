package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

const (
	// logMax is the size, in bytes, from which on the server's log is put
	// aside at a start. The one put aside before goes.
	logMax = 16 << 20
	// logTail is how much of the log, in bytes, an error carries.
	logTail = 2 << 10
)

// launch starts the server and returns when the product's database answers.
func (s *Server) launch(ctx context.Context, install pgchild.Install, user pgchild.User) error {
	if err := admit(s.layout.cluster, user); err != nil {
		return err
	}
	log, err := openLog(s.layout.log)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the server has its own handle
	process, err := pgchild.Start(pgchild.Command{
		Program: install.Program("postgres"),
		Args:    []string{"-D", s.layout.cluster, "-c", "cluster_name=" + clusterName},
		User:    user,
		Output:  log,
	})
	if err != nil {
		return err
	}
	if err := s.ready(ctx, process); err != nil {
		return errors.Join(err, process.Stop(ctx, stopGrace))
	}
	s.process = process
	s.log.Info("embedded PostgreSQL is ready", "version", install.Major, "pid", process.PID(), "user", user.Name, "dir", s.layout.cluster)
	return nil
}

// ready waits for the server's first answer and makes the product's role and
// database.
func (s *Server) ready(ctx context.Context, process *pgchild.Process) error {
	admin := s.layout.url(superuser, "postgres")
	err := until(ctx, func() (bool, error) {
		select {
		case <-process.Done():
			return false, fmt.Errorf("PostgreSQL ended: %w: the end of %s:\n%s", errEnded(process), s.layout.log, tailOf(s.layout.log))
		default:
			return probe(ctx, admin) == nil, nil
		}
	})
	if err != nil {
		return fmt.Errorf("wait for PostgreSQL to answer: %w", err)
	}
	return provision(ctx, admin)
}

// provision makes the product's role and database when they are missing.
func provision(ctx context.Context, admin string) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return fmt.Errorf("connect to the new server: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // every statement has been answered
	for _, step := range []struct{ exists, create string }{
		{`SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = '` + role + `')`, `CREATE ROLE ` + role + ` LOGIN`},
		{`SELECT EXISTS (SELECT FROM pg_database WHERE datname = '` + database + `')`, `CREATE DATABASE ` + database + ` OWNER ` + role},
	} {
		var exists bool
		if err := conn.QueryRow(ctx, step.exists).Scan(&exists); err != nil {
			return fmt.Errorf("look for the product's database: %w", err)
		}
		if exists {
			continue
		}
		if _, err := conn.Exec(ctx, step.create); err != nil {
			return fmt.Errorf("make the product's database: %w", err)
		}
	}
	return nil
}

// openLog opens the server's log for appending.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > logMax {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("put the server's log aside: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, fileMode) //nolint:gosec // within the data directory
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	return f, nil
}

// tailOf returns the last lines of the log for a message.
func tailOf(path string) string {
	text, err := os.ReadFile(path) //nolint:gosec // within the data directory
	if err != nil {
		return err.Error()
	}
	if len(text) > logTail {
		text = text[len(text)-logTail:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text), ""))
}

// errEnded says how an ended server ended, also when it ended without a fault.
func errEnded(process *pgchild.Process) error {
	if err := process.Err(); err != nil {
		return err
	}
	return errors.New("it was stopped")
}
