// Package served runs the program itself, in a process of its own, to be
// measured from outside.
package served

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// readyWithin bounds the start, migrations included.
	readyWithin = time.Minute
	// lookEvery is how often it is asked whether it is ready.
	lookEvery = 100 * time.Millisecond
)

// masterKey is always the same, so that a database can be measured again. It
// protects nothing.
var masterKey = base64.StdEncoding.EncodeToString(make([]byte, 32))

// Program is the program, built, to be run as often as wanted.
type Program struct{ dir, binary string }

// Build builds the program.
func Build(ctx context.Context) (*Program, error) {
	dir, err := os.MkdirTemp("", "rowlock-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	p := &Program{dir: dir, binary: filepath.Join(dir, "rowlock")}
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", p.binary, "github.com/rowlock/rowlock/cmd/rowlock")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if text, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build: %w\n%s", err, text), p.Remove())
	}
	return p, nil
}

// Remove takes the program away.
func (p *Program) Remove() error { return os.RemoveAll(p.dir) }

// Server is a server that is measured.
type Server struct {
	// URL is its address, Metrics that of its numbers.
	URL, Metrics string

	cmd    *exec.Cmd
	own    *Program // taken away with the server; nil for one that others run, too
	binary string
	env    []string
}

// Start builds the program and starts it on a database, with settings besides
// (NAME=value).
func Start(ctx context.Context, database string, settings ...string) (*Server, error) {
	p, err := Build(ctx)
	if err != nil {
		return nil, err
	}
	s, err := p.Serve(ctx, database, settings...)
	if err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	s.own = p
	return s, nil
}

// Serve starts the program on a database, with settings besides (NAME=value), and
// returns when it is ready.
func (p *Program) Serve(ctx context.Context, database string, settings ...string) (*Server, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + address, Metrics: "http://" + metrics + "/metrics", binary: p.binary}
	s.env = append(os.Environ(), "ROWLOCK_DATABASE_URL="+database, "ROWLOCK_LISTEN="+address, "ROWLOCK_BASE_URL="+s.URL,
		"ROWLOCK_METRICS_LISTEN="+metrics, "ROWLOCK_MASTER_KEY="+masterKey, "ROWLOCK_LOG_LEVEL=error",
		"ROWLOCK_DRAIN_PAUSE=0") // no balancer has to notice
	s.env = append(s.env, settings...)
	return s, s.Boot(ctx)
}

// Boot starts the server that was ended again, at its addresses, and returns when it
// is ready.
func (s *Server) Boot(ctx context.Context) error {
	// Stop ends it, in order: the context would kill it.
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), s.binary, "serve")
	s.cmd.Env, s.cmd.Stderr = s.env, os.Stderr
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return fmt.Errorf("start: %w", err)
	}
	if err := s.await(ctx); err != nil {
		return errors.Join(err, s.Kill())
	}
	return nil
}

// Terminate asks the server to end, and returns when it has, or the fault that it
// ended with.
func (s *Server) Terminate() error {
	cmd := s.cmd
	if cmd == nil {
		return nil
	}
	s.cmd = nil
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return errors.Join(fmt.Errorf("stop: %w", err), cmd.Wait())
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// Kill ends the server as kill -9 does.
func (s *Server) Kill() error {
	cmd := s.cmd
	if cmd == nil {
		return nil
	}
	s.cmd = nil
	err := cmd.Process.Kill()
	_ = cmd.Wait() // it says that it was killed
	return err
}

// Account makes an account and returns its API key.
func (s *Server) Account(ctx context.Context, name string) (string, error) {
	cmd := exec.CommandContext(ctx, s.binary, "account", "create", "--name", name, "--email", name+"@example.com", "--json")
	cmd.Env, cmd.Stderr = s.env, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("make an account: %w", err)
	}
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return "", fmt.Errorf("make an account: %w", err)
	}
	return made.Key, nil
}

// await returns when the server is ready.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
		if err != nil {
			return fmt.Errorf("ask whether it is ready: %w", err)
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close() // its status is all
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// Stop ends the server and takes away what was made for it.
func (s *Server) Stop() error {
	err := s.Terminate()
	if s.own != nil {
		err = errors.Join(err, s.own.Remove())
	}
	return err
}

func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	return l.Addr().String(), l.Close()
}
