package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

// partial is the pattern of the directory in which a cluster is made.
const partial = "postgres.new-*"

// ensureCluster makes the cluster when there is none and returns programs of
// its version.
func (s *Server) ensureCluster(ctx context.Context, user pgchild.User) (pgchild.Install, error) {
	major, err := s.layout.version()
	if err != nil {
		return pgchild.Install{}, err
	}
	if major != 0 {
		if err := user.CheckOwns(s.layout.cluster); err != nil {
			return pgchild.Install{}, err
		}
		return s.installFor(ctx, user, major)
	}
	install, err := s.newestInstall(ctx, user)
	if err != nil {
		return pgchild.Install{}, err
	}
	s.warnOfPartial()
	return install, s.createCluster(ctx, install, user)
}

// warnOfPartial names what first starts left that were killed half-way. They
// hold no data, but nothing here removes what looks like a cluster.
func (s *Server) warnOfPartial() {
	left, err := filepath.Glob(filepath.Join(s.layout.dir, partial))
	if err != nil {
		return
	}
	for _, path := range left {
		s.log.Warn("an interrupted first start left a directory that can be removed", "dir", path)
	}
}

// createCluster makes a cluster under another name, complete and on disk, and
// only then gives it its own.
func (s *Server) createCluster(ctx context.Context, install pgchild.Install, user pgchild.User) error {
	s.log.Info("making a database cluster", "dir", s.layout.cluster, "version", install.Major, "user", user.Name)
	fresh, err := os.MkdirTemp(s.layout.dir, partial)
	if err != nil {
		return fmt.Errorf("make a directory for the cluster: %w", err)
	}
	if err := fill(ctx, fresh, install, user); err != nil {
		return errors.Join(err, dropIfEmpty(fresh))
	}
	if err := os.Rename(fresh, s.layout.cluster); err != nil {
		return fmt.Errorf("put the new cluster in place: %w (it was made in %s, which can be removed)", err, fresh)
	}
	return syncPath(s.layout.dir)
}

// fill runs initdb and configures its result.
func fill(ctx context.Context, fresh string, install pgchild.Install, user pgchild.User) error {
	if err := user.Own(fresh); err != nil {
		return err
	}
	err := pgchild.Run(ctx, pgchild.Command{
		Program: install.Program("initdb"),
		Args: []string{
			"--pgdata", fresh, "--username", superuser, "--auth", "peer",
			// Bytewise order does not change with the system's libraries, which
			// would corrupt indexes silently.
			"--encoding", "UTF8", "--locale", "C", "--data-checksums", "--no-instructions",
		},
		User: user,
	})
	if err != nil {
		return fmt.Errorf("make a database cluster: %w", err)
	}
	return configure(fresh, user)
}

// dropIfEmpty takes back a directory that initdb has cleaned up after itself.
// What is not empty stays, and the error says where.
func dropIfEmpty(dir string) error {
	if err := os.Remove(dir); err != nil {
		return fmt.Errorf("a half-made cluster is left, which can be removed: %w", err)
	}
	return nil
}

func syncPath(path string) error {
	f, err := os.Open(path) //nolint:gosec // within the data directory
	if err != nil {
		return fmt.Errorf("write to disk: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
