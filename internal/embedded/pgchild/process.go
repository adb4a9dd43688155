package pgchild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Command is one program of PostgreSQL to run.
type Command struct {
	// Program is the absolute path, Args what follows it.
	Program string
	Args    []string
	// User is the account to run under.
	User User
	// Output takes standard output and standard error. An *os.File outlives
	// this process; with any other writer the program's output ends with it.
	Output io.Writer
}

// Process is a running program. It ends with this process at the latest: on
// Linux the kernel sends it SIGQUIT, which PostgreSQL takes as an immediate
// shutdown that loses nothing committed.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start runs the program and returns when it is running. Its own goroutine
// waits for its end.
func Start(c Command) (*Process, error) {
	p := &Process{cmd: c.cmd(), done: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Program, err)
	}
	return p, nil
}

// run starts the program and waits for its end on one thread of the operating
// system, because the kernel takes the end of the thread that started a child
// for the end of its parent.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

// Done is closed when the program has ended and was waited for.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the program ended: nil for exit status 0. It waits for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal to the program. One that has ended is no error.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", filepath.Base(p.cmd.Path), err)
	}
	return nil
}

// Stop asks the program to end as kindly as it can and returns when it has
// ended: SIGINT (PostgreSQL's fast shutdown: sessions are cut, everything is
// written), then SIGQUIT (immediate: recovered at the next start), then
// SIGKILL. The next signal comes when grace has passed or ctx has ended.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		if err := p.Signal(s); err != nil {
			return err
		}
		if p.endsWithin(ctx, grace) {
			return nil
		}
		ctx = context.WithoutCancel(ctx)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

func (p *Process) endsWithin(ctx context.Context, grace time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// Run runs the program to its end. When ctx ends first, the program and its
// children are killed. The error carries the end of what the program wrote.
func Run(ctx context.Context, c Command) error {
	var out bytes.Buffer
	c.Output = &out
	p, err := Start(c)
	if err != nil {
		return err
	}
	name := filepath.Base(c.Program)
	select {
	case <-p.done:
	case <-ctx.Done():
		killGroup(p.PID())
		<-p.done
		return fmt.Errorf("run %s: %w", name, context.Cause(ctx))
	}
	if p.err != nil {
		return fmt.Errorf("run %s: %w: %s", name, p.err, tail(out.String()))
	}
	return nil
}

// tailBytes is how much of a program's output an error carries: enough for
// PostgreSQL's message and hint.
const tailBytes = 2 << 10

func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > tailBytes {
		s = "… " + strings.ToValidUTF8(s[len(s)-tailBytes:], "")
	}
	return s
}

func (c Command) cmd() *exec.Cmd {
	cmd := exec.Command(c.Program, c.Args...) //nolint:noctx // a server outlives the call that starts it; its owner stops it
	// The user may not be allowed to enter this process's directory, and
	// PostgreSQL wants to return to its own.
	cmd.Dir = "/"
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.SysProcAttr = attributes(c.User)
	return cmd
}

// passed are the only variables a child inherits: this process's environment
// holds secrets that PostgreSQL has no use for, and PG* variables that would
// change what it does.
var passed = []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"}

func environment() []string {
	env := []string{"LC_ALL=C", "TZ=UTC"}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
