package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
	"github.com/rowlock/rowlock/web/docs"
)

// The documented way back to a moment, on a database that is tuned as the
// composition tunes it: what was acknowledged until then is there, byte for byte,
// what came after is not, nothing is spoilt, and what is open goes out.
func TestRestoredToAMoment(t *testing.T) {
	t.Parallel()
	x := newArchived(t)
	n := startNode(t, onDatabase(t, x.database))
	x.node, x.account = n, newAccount(t, n)
	r := newReceiver(t, func() time.Duration { return 0 })
	x.receiver = r
	want[endpointObject](t, x.account, http.StatusCreated, http.MethodPost, "/endpoints",
		fmt.Sprintf(`{"url":%q,"secret":%q,"event_types":["sent.*"]}`, r.url+everything, r.secret))
	idle := want[endpointObject](t, x.account, http.StatusCreated, http.MethodPost, "/endpoints",
		fmt.Sprintf(`{"url":%q,"secret":%q,"event_types":["kept.*"]}`, r.url+orders, r.secret))
	want[endpointObject](t, x.account, http.StatusOK, http.MethodPost, "/endpoints/"+idle.ID+"/pause", "")

	before := x.publish("sent.before", "kept.before")
	x.documented("base-backup.sh")
	between := x.publish("sent.between", "kept.between")
	moment := query[struct{ Now string }](t, x.database.url(), `SELECT clock_timestamp()::text`)[0].Now
	after := x.publish("sent.after", "kept.after")
	x.archiveAll()
	// Whatever is left of it is lost, as its machine is.
	n.kill()
	if err := x.database.cluster.kill(); err != nil {
		t.Fatal(err)
	}

	x.restore(moment)
	came := len(r.all())
	n.boot()
	for token, body := range merge(before, between) {
		status, got := x.account.call(t, http.MethodGet, "/events/"+token+"/payload", nil)
		if status != http.StatusOK || string(got) != body {
			t.Errorf("what was acknowledged before the moment is %d %s, want %s", status, got, body)
		}
	}
	for token := range after {
		if status, _ := x.account.call(t, http.MethodGet, "/events/"+token, nil); status != http.StatusNotFound {
			t.Errorf("what came after the moment answers %d", status)
		}
	}
	// What waited at the moment goes out, and so does what comes now.
	want[endpointObject](t, x.account, http.StatusOK, http.MethodPost, "/endpoints/"+idle.ID+"/resume", "")
	now := x.publish("sent.now", "kept.now")
	for token := range merge(before, between, now) {
		waitFor(t, patience, "everything is delivered", func() bool {
			return r.got(place{everything, token}) || r.got(place{orders, token})
		})
	}
	waitFor(t, patience, "nothing is open", func() bool {
		return none(t, x.account, "/deliveries", "status=sending") && none(t, x.account, "/deliveries", "status=pending")
	})
	t.Logf("%d requests had come before, %d since", came, len(r.all())-came)
	x.isSound()
}

// archived is a database whose log is archived as the documentation says.
type archived struct {
	t        *testing.T
	database database
	node     *node
	account  *account
	receiver *receiver
	// wal and backups are where its log and its backups go.
	wal, backups string
}

// newArchived starts a cluster with the settings of the composition, and those of
// the documentation for an archive.
func newArchived(t *testing.T) *archived {
	t.Helper()
	dir, err := openDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	x := &archived{t: t, wal: filepath.Join(dir, "wal"), backups: filepath.Join(dir, "backups")}
	c := &cluster{password: rand.Text(), settings: append(composedSettings(t), "shared_buffers=32MB")} // its size is no matter here
	if c.port, err = freePort(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	if err := c.place(ctx, dir); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{x.wal, x.backups} {
		if err := errors.Join(os.Mkdir(place, 0o700), c.user.Own(place)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.initialise(ctx); err != nil {
		t.Fatal(err)
	}
	x.database.cluster = c
	x.configure(docs.Example("backups", "postgresql.conf").Text)
	if err := c.start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.stop(context.Background()) }) // it may be killed already
	x.database = newDatabase(t, c)
	return x
}

// composedSettings are those that the composition starts PostgreSQL with.
func composedSettings(t *testing.T) (settings []string) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/compose.yaml")
	var c struct {
		Services map[string]struct {
			Command []string `yaml:"command"`
		} `yaml:"services"`
	}
	if err == nil {
		err = yaml.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range c.Services["postgres"].Command {
		if strings.Contains(word, "=") {
			settings = append(settings, word)
		}
	}
	if len(settings) == 0 {
		t.Fatal("the composition sets nothing")
	}
	return settings
}

// local has the documentation's places replaced by the test's.
func (x *archived) local(text string) string {
	return strings.NewReplacer(
		"/var/lib/rowlock-backup/wal", x.wal, "/var/lib/rowlock-backup/base", filepath.Join(x.backups, "base"),
		"/var/lib/postgresql/15/main", x.data(),
	).Replace(text)
}

// data is where the cluster is.
func (x *archived) data() string { return filepath.Join(x.database.cluster.dir, "data") }

// configure appends to a cluster's postgresql.conf.
func (x *archived) configure(text string) {
	x.t.Helper()
	file, err := os.OpenFile(filepath.Join(x.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		x.t.Fatal(err)
	}
	_, err = file.WriteString("\n" + x.local(text) + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		x.t.Fatal(err)
	}
}

// documented runs a script of the documentation as the database's account.
func (x *archived) documented(name string) {
	x.t.Helper()
	c := x.database.cluster
	ctx, cancel := context.WithTimeout(x.t.Context(), startLimit)
	defer cancel()
	program, err := exec.LookPath("env")
	if err != nil {
		x.t.Fatal(err)
	}
	err = pgchild.Run(ctx, pgchild.Command{
		Program: program,
		Args: []string{
			"-C", c.dir, "PATH=" + c.install.Bin + ":" + os.Getenv("PATH"), "PGHOST=127.0.0.1", fmt.Sprintf("PGPORT=%d", c.port),
			"PGUSER=" + superuser, "PGPASSWORD=" + c.password, "bash", "-euc", x.local(docs.Example("backups", name).Text),
		},
		User: c.user,
	})
	if err != nil {
		x.t.Fatalf("%s: %v", name, err)
	}
}

// publish sends one event of each type and returns their bodies by their ids. Those
// that are sent have arrived when it returns.
func (x *archived) publish(kinds ...string) map[string]string {
	x.t.Helper()
	sent := map[string]string{}
	for _, kind := range kinds {
		for i := range 5 {
			body := fmt.Sprintf(`{ "type": %q,  "n":%d }`, kind, i)
			id := want[eventObject](x.t, x.account, http.StatusAccepted, http.MethodPost, "/events", fmt.Sprintf(`{"type":%q,"data":%s}`, kind, body)).ID
			sent[id] = body
			if strings.HasPrefix(kind, "sent.") {
				waitFor(x.t, patience, "it is delivered", func() bool { return x.receiver.got(place{everything, id}) })
			}
		}
	}
	return sent
}

// archiveAll has all of the log that there is archived.
func (x *archived) archiveAll() {
	x.t.Helper()
	type row struct{ Name string }
	last := query[row](x.t, x.database.cluster.url("postgres", x.database.cluster.port), `SELECT pg_walfile_name(pg_switch_wal())`)[0].Name
	waitFor(x.t, patience, "the log is archived", func() bool {
		_, err := os.Stat(filepath.Join(x.wal, last))
		return err == nil
	})
}

// restore makes the cluster anew of the backup and of the archive, until a moment.
func (x *archived) restore(moment string) {
	x.t.Helper()
	x.documented("restore.sh")
	x.configure(strings.ReplaceAll(docs.Example("backups", "restore.conf").Text, "2026-03-01 14:05:00+00", moment))
	ctx, cancel := context.WithTimeout(x.t.Context(), startLimit)
	defer cancel()
	if err := x.database.cluster.start(ctx); err != nil {
		x.t.Fatal(err)
	}
	waitFor(x.t, startLimit, "the recovery has come to its end", func() bool {
		return !query[struct{ Recovers bool }](x.t, x.database.url(), `SELECT pg_is_in_recovery()`)[0].Recovers
	})
}

// isSound reads every table and every index.
func (x *archived) isSound() {
	x.t.Helper()
	x.database.execute(x.t, `CREATE EXTENSION IF NOT EXISTS amcheck`)
	x.database.execute(x.t, `
		SELECT bt_index_check(index => i.indexrelid, heapallindexed => true)
		FROM pg_index i
		JOIN pg_class c ON c.oid = i.indexrelid
		JOIN pg_am a ON a.oid = c.relam
		WHERE a.amname = 'btree'
		  AND c.relkind = 'i'
		  AND c.relnamespace = 'public'::regnamespace
		  AND i.indisvalid`)
	type fault struct{ Table, Message string }
	for _, f := range query[fault](x.t, x.database.url(), `
		SELECT c.relname::text, v.msg
		FROM pg_class c
		CROSS JOIN LATERAL verify_heapam(c.oid) v
		WHERE c.relkind = 'r'
		  AND c.relnamespace = 'public'::regnamespace`) {
		x.t.Errorf("the table %s is spoilt: %s", f.Table, f.Message)
	}
}

// merge puts events together.
func merge(all ...map[string]string) map[string]string {
	merged := map[string]string{}
	for _, one := range all {
		maps.Copy(merged, one)
	}
	return merged
}
