package served

import "testing"

// ForTest runs the program on a database for the time of a test, allowed to deliver
// to this machine, and makes an account in it. It returns the server and the
// account's API key.
func ForTest(t *testing.T, database, account string) (*Server, string) {
	t.Helper()
	server, err := Start(t.Context(), database, "ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	key, err := server.Account(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return server, key
}
