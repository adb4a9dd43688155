package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

// What doctor finds with a PgBouncer in between, as it comes, in session mode and
// in transaction mode; and with a PostgreSQL that is set up well, nothing.
func TestDoctorFindsAPooler(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, shared)
	environ := onDatabase(t, d)
	run(t, environ, "migrate", "up")
	if out, err := command(t, environ, "doctor"); err != nil || strings.Contains(string(out), "FAULT") || !strings.Contains(string(out), "ok     durability") {
		t.Errorf("on a sound database: %v\n%s", err, out)
	}
	const dropped = "ignore_startup_parameters = enable_seqscan,idle_in_transaction_session_timeout,jit,lock_timeout,plan_cache_mode\n"
	for name, c := range map[string]struct{ config, want string }{
		"as it comes":      {"", "FAULT  connection     "},
		"session mode":     {dropped, "FAULT  session        enable_seqscan, idle_in_transaction_session_timeout, "},
		"transaction mode": {"pool_mode = transaction\n" + dropped, "FAULT  session        a pooler stands in between, in transaction mode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			through := append(slices.Clone(environ), "ROWLOCK_DATABASE_URL="+startPooler(t, d, c.config))
			out, err := command(t, through, "doctor")
			if err == nil || !strings.Contains(string(out), c.want) || !strings.Contains(string(out), "Name PostgreSQL itself in ROWLOCK_DATABASE_URL") {
				t.Errorf("%v, want %q in:\n%s", err, c.want, out)
			}
		})
	}
}

// Through a PgBouncer in transaction mode, one of two nodes dies, and the other
// takes over: nothing that was acknowledged is lost, and nothing repeated but what was
// in the air. Notices and migrations go to PostgreSQL itself.
func TestThroughAPooler(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *rand.Rand) {
		d := newDatabase(t, shared)
		environ := append(onDatabase(t, d), "ROWLOCK_POOLER_URL="+startPooler(t, d, "pool_mode = transaction\n"))
		newWorldOn(t, rng, d, environ, 2).oneOfTwoDies()
		if out, err := command(t, environ, "doctor"); err != nil || !strings.Contains(string(out), "  pooler         ") {
			t.Errorf("%v:\n%s", err, out)
		}
	})
}

// startPooler runs a PgBouncer before a database, and returns the database's
// address there.
func startPooler(t *testing.T, d database, config string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("this machine has no pgbouncer: apt-get install pgbouncer")
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(d.cluster.dir, "pooler-")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d user=%s password=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = any\n%s",
		d.cluster.port, superuser, d.cluster.password, port, config)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{dir, file} {
		if err := d.cluster.user.Own(place); err != nil {
			t.Fatal(err)
		}
	}
	process, err := pgchild.Start(pgchild.Command{Program: program, Args: []string{file}, User: d.cluster.user, Output: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Stop(context.Background(), stopGrace) }) // nothing is lost with it
	address := url.URL{Scheme: "postgres", User: url.User(superuser), Host: "127.0.0.1:" + strconv.Itoa(port), Path: "/" + d.name, RawQuery: "sslmode=disable"}
	waitFor(t, patience, "the pooler answers", func() bool {
		conn, err := pgx.Connect(t.Context(), address.String())
		return err == nil && conn.Close(t.Context()) == nil
	})
	return address.String()
}
