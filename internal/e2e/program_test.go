package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// tailBytes is how much of a program's log a failed test shows.
const tailBytes = 6 << 10

// program is a running child. It is killed when its test ends.
type program struct {
	t     testing.TB
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

// start runs the program under test with a log of its own.
func start(t testing.TB, environ []string, args ...string) *program {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.SysProcAttr = environ, childAttributes()
	return startCommand(t, cmd)
}

// startCommand runs a command with a log of its own.
func startCommand(t testing.TB, cmd *exec.Cmd) *program {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), filepath.Base(cmd.Path)+"-*.log")
	if err != nil {
		t.Fatalf("open a log: %v", err)
	}
	defer log.Close() //nolint:errcheck // the child has its own handle
	cmd.Stdout, cmd.Stderr = log, log
	p := &program{t: t, cmd: cmd, log: log.Name(), ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		t.Fatalf("start %v: %v", cmd.Args, err)
	}
	t.Cleanup(p.finish)
	return p
}

// run waits for the child on one thread of the operating system: the kernel
// takes the end of the thread that started a child for the end of its parent.
func (p *program) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
	}
}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		p.t.Errorf("send %s: %v", s, err)
	}
}

// kill ends the child without a chance to do anything, and tells when.
func (p *program) kill() time.Time {
	p.t.Helper()
	at := time.Now()
	p.signal(syscall.SIGKILL)
	<-p.ended
	return at
}

func (p *program) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// exitCode is the child's after its end; -1 when a signal ended it.
func (p *program) exitCode() int { return p.cmd.ProcessState.ExitCode() }

// finish kills the child and looks into its log for what must not be there.
func (p *program) finish() {
	if p.running() {
		p.kill()
	}
	text, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Errorf("read the program's log: %v", err)
	}
	for _, fault := range []string{"DATA RACE", "panic: ", "fatal error: "} {
		if at := bytes.Index(text, []byte(fault)); at >= 0 {
			p.t.Errorf("the program's log has %q:\n%s", fault, text[at:min(len(text), at+tailBytes)])
		}
	}
	if p.t.Failed() {
		p.t.Logf("the end of the program's log:\n%s", text[max(0, len(text)-tailBytes):])
	}
}
