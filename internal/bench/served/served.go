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

// Server is the server that is measured.
type Server struct {
	// URL is its address, Metrics that of its numbers.
	URL, Metrics string

	cmd    *exec.Cmd
	dir    string
	binary string
	env    []string
}

// Start builds the program and starts it on a database, with settings besides
// (NAME=value).
func Start(ctx context.Context, database string, settings ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "rowlock-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	p := &Server{dir: dir, binary: filepath.Join(dir, "rowlock")}
	if err := p.start(ctx, database, settings); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func (p *Server) start(ctx context.Context, database string, settings []string) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", p.binary, "github.com/rowlock/rowlock/cmd/rowlock")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, text)
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	metrics, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	p.Metrics = "http://" + metrics + "/metrics"
	p.URL = "http://" + address
	// Stop ends it, in order: the context would kill it.
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), p.binary, "serve")
	p.env = append(os.Environ(), "ROWLOCK_DATABASE_URL="+database, "ROWLOCK_LISTEN="+address, "ROWLOCK_BASE_URL="+p.URL,
		"ROWLOCK_METRICS_LISTEN="+metrics, "ROWLOCK_MASTER_KEY="+masterKey, "ROWLOCK_LOG_LEVEL=error")
	p.env = append(p.env, settings...)
	p.cmd.Env, p.cmd.Stderr = p.env, os.Stderr
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return p.await(ctx)
}

// Account makes an account and returns its API key.
func (p *Server) Account(ctx context.Context, name string) (string, error) {
	cmd := exec.CommandContext(ctx, p.binary, "account", "create", "--name", name, "--email", name+"@example.com", "--json")
	cmd.Env, cmd.Stderr = p.env, os.Stderr
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
func (p *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/readyz", nil)
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
func (p *Server) Stop() error {
	var err error
	if p.cmd != nil && p.cmd.Process != nil {
		err = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait() // it was told to end
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	return l.Addr().String(), l.Close()
}
