package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
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

// process is the server that is measured: the program itself, in a process of
// its own.
type process struct {
	cmd *exec.Cmd
	dir string
	url string
}

// serve builds the program and starts it on a database.
func serve(ctx context.Context, database string) (*process, error) {
	dir, err := os.MkdirTemp("", "rowlock-pages-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	p := &process{dir: dir}
	if err := p.start(ctx, database); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (p *process) start(ctx context.Context, database string) error {
	binary := filepath.Join(p.dir, "rowlock")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/rowlock/rowlock/cmd/rowlock")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, text)
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	p.url = "http://" + address
	// stop ends it, in order: the context would kill it.
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), binary, "serve")
	p.cmd.Env = append(os.Environ(), "ROWLOCK_DATABASE_URL="+database, "ROWLOCK_LISTEN="+address, "ROWLOCK_BASE_URL="+p.url,
		"ROWLOCK_METRICS_LISTEN=127.0.0.1:0", "ROWLOCK_MASTER_KEY="+base64.StdEncoding.EncodeToString(key), "ROWLOCK_LOG_LEVEL=error")
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return p.await(ctx)
}

// await returns when the server is ready.
func (p *process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/readyz", nil)
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

// stop ends the server and takes away what was made for it.
func (p *process) stop() error {
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
