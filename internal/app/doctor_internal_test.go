package app

import (
	"maps"
	"strings"
	"testing"
)

// What a server may be set to, and what doctor says of it.
func TestServerSettings(t *testing.T) {
	t.Parallel()
	sound := map[string]string{
		fsync: "on", fullPageWrites: "on", commit: "on", standbys: "", autovacuum: "on", trackCounts: "on",
		encoding: "UTF8", readOnly: "off", isolation: "read committed", statementTime: "0",
	}
	for name, c := range map[string]struct {
		judge       func(map[string]string) error
		set, to     string
		says, offer string
	}{
		"all is well":         {durability, commit, "remote_apply", "", ""},
		"no fsync":            {durability, fsync, "off", "loses what was acknowledged", "Set fsync = on"},
		"torn pages":          {durability, fullPageWrites, "off", "may spoil the database", "Set full_page_writes = on"},
		"commits not waited":  {durability, commit, "off", "loses what was acknowledged last", "for the role or the database too"},
		"no autovacuum":       {upkeep, autovacuum, "off", "tables grow", "Set autovacuum = on"},
		"nothing is counted":  {upkeep, trackCounts, "off", "tables grow", "Set track_counts = on"},
		"another alphabet":    {writes, encoding, "SQL_ASCII", "encoding is SQL_ASCII", "CREATE DATABASE"},
		"snapshots that last": {writes, isolation, "repeatable read", "transactions are repeatable read", "default_transaction_isolation"},
	} {
		settings := maps.Clone(sound)
		settings[c.set] = c.to
		err := c.judge(settings)
		if (err != nil) != (c.says != "") || err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.offer)) {
			t.Errorf("%s: %v, want %q and %q", name, err, c.says, c.offer)
		}
	}
}

func TestOwnServer(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		":8080": "127.0.0.1:8080", "0.0.0.0:80": "127.0.0.1:80", "[::]:8080": "[::1]:8080",
		"10.0.0.7:8080": "10.0.0.7:8080", "localhost:8080": "localhost:8080", ":0": "",
	} {
		if got, err := ownServer(listen); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v, want %q", listen, got, err, want)
		}
	}
}
