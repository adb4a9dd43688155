package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/pgtest/throwaway"
)

// Variable names the environment variable with the superuser's address of a
// running server to use.
const Variable = "ROWLOCK_TEST_DATABASE_URL"

// shared is the server of this process's tests.
var shared server

// server is started by the first test that asks for it.
type server struct {
	mu       sync.Mutex
	admin    string
	own      *throwaway.Server
	err      error
	template string
}

// address returns the superuser's address, starting a server when none is
// given. A failure is kept: each further test would wait for the same one.
func (s *server) address() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.admin != "" || s.err != nil {
		return s.admin, s.err
	}
	if s.admin = os.Getenv(Variable); s.admin != "" {
		return s.admin, nil
	}
	// The server belongs to the process, not to the test that came first.
	if s.own, s.err = throwaway.Start(context.Background()); s.err == nil {
		s.admin = s.own.URL()
	}
	return s.admin, s.err
}

// templateName returns the migrated database to clone, made when missing.
func (s *server) templateName() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.template != "" || s.err != nil {
		return s.template, s.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	s.template, s.err = ensureTemplate(ctx, s.admin)
	return s.template, s.err
}

// stop ends the server when this process has started it.
func (s *server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == nil {
		return nil
	}
	own := s.own
	s.own, s.admin, s.template = nil, "", ""
	return own.Stop(context.Background())
}

// Main runs the tests, stops the server if they have started one, and returns
// the exit code. Without it the server still ends with the process, and its
// directory is removed by a later run.
func Main(m *testing.M) int { return Suite{m}.Run() }

// Suite is a package's tests and the end of their server, for TestMain
// functions that hand the tests on: goleak.VerifyTestMain(pgtest.Suite{m}).
type Suite struct {
	// M runs the tests; it is a *testing.M.
	M interface{ Run() int }
}

// Run runs the tests, stops the server and returns the exit code.
func (s Suite) Run() int {
	code := s.M.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintf(os.Stderr, "pgtest: stop the server: %v\n", err)
		return max(code, 1)
	}
	return code
}
