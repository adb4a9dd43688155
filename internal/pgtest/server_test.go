package pgtest_test

import (
	"context"
	"testing"

	"github.com/rowlock/rowlock/internal/pgtest/throwaway"
)

// freshServer starts a server that no other test knows.
func freshServer(t *testing.T) string {
	t.Helper()
	server, err := throwaway.Start(t.Context())
	if err != nil {
		t.Fatalf("start a server: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	return server.URL()
}
