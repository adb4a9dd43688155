package embedded

import (
	"errors"
	"fmt"
	"os"
	osuser "os/user"
	"path/filepath"
	"strings"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

// clusterName marks a server that Rowlock has started. It is given on the
// command line alone, so that one started by hand does not carry it.
const clusterName = "rowlock-embedded"

// settings are appended to a new cluster's postgresql.conf, where an operator
// may change them; they hold for a server started by hand as well.
const settings = `
# Written by Rowlock when it made this cluster. Yours to change.
listen_addresses = ''             # the socket in this directory is the only way in
unix_socket_directories = '.'
unix_socket_permissions = 0700
port = 5432                       # part of the socket's name; do not change
max_connections = 100
shared_buffers = 128MB
timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = off
`

// access is the whole pg_hba.conf.
const access = `# Written by Rowlock: whoever the map in pg_ident.conf names may connect.
local all all peer map=rowlock
`

// configure completes what initdb has made, and writes it to disk.
func configure(cluster string, user pgchild.User) error {
	conf := filepath.Join(cluster, "postgresql.conf")
	if err := appendTo(conf, settings); err != nil {
		return fmt.Errorf("configure the cluster: %w", err)
	}
	if err := replace(filepath.Join(cluster, "pg_hba.conf"), access, user); err != nil {
		return err
	}
	return syncPath(cluster)
}

// admit writes who may connect. That depends on who runs Rowlock, so it is
// written at each start.
func admit(cluster string, user pgchild.User) error {
	self, err := osuser.Current()
	if err != nil {
		return fmt.Errorf("find the name of the user that runs rowlock: %w", err)
	}
	return replace(filepath.Join(cluster, "pg_ident.conf"), identities("root", user.Name, self.Username), user)
}

// identities maps each account, once, to the product's role and to the
// superuser that sets it up.
func identities(accounts ...string) string {
	var text strings.Builder
	text.WriteString("# Written by Rowlock at each start.\n")
	seen := map[string]bool{}
	for _, account := range accounts {
		if seen[account] {
			continue
		}
		seen[account] = true
		for _, as := range []string{role, superuser} {
			fmt.Fprintf(&text, "rowlock \"%s\" %s\n", strings.ReplaceAll(account, `"`, `""`), as)
		}
	}
	return text.String()
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, fileMode) //nolint:gosec // within the data directory
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// replace writes a file of the cluster so that a crash leaves the old one or
// the new one.
func replace(path, text string, user pgchild.User) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close(), user.Own(f.Name())); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
