package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

// newestInstall returns programs for a new cluster: the ones of this machine,
// else fetched ones.
func (s *Server) newestInstall(ctx context.Context, user pgchild.User) (pgchild.Install, error) {
	install, err := pgchild.Find(ctx, user)
	if err == nil {
		return install, nil
	}
	fetched, fetchErr := s.fetched(ctx, user, defaultMajor)
	if fetchErr != nil {
		return pgchild.Install{}, fmt.Errorf("%w, and fetching one did not work: %w: "+
			"%s; or set ROWLOCK_DATABASE_URL to a server of your own", err, fetchErr, pgchild.HowToInstall)
	}
	return fetched, nil
}

// installFor returns programs of the major version of an existing cluster.
// Programs of any other version cannot serve it.
func (s *Server) installFor(ctx context.Context, user pgchild.User, major int) (pgchild.Install, error) {
	all := pgchild.Installs(ctx)
	for _, i := range all {
		if i.Major == major && major >= pgchild.MinMajor && user.CheckReach(i.Program("postgres")) == nil {
			return i, nil
		}
	}
	install, err := s.fetched(ctx, user, major)
	if err == nil {
		return install, nil
	}
	return pgchild.Install{}, &VersionError{Dir: s.layout.cluster, Major: major, Found: all, Err: err}
}

// VersionError says that no programs are at hand that can serve a cluster.
type VersionError struct {
	// Dir is the cluster, which is left as it is, and Major its version.
	Dir   string
	Major int
	// Found is what this machine has instead.
	Found []pgchild.Install
	// Err says why programs of that version could not be fetched.
	Err error
}

// Error says what to do.
func (e *VersionError) Error() string {
	found := "none"
	if len(e.Found) > 0 {
		found = pgchild.Describe(e.Found)
	}
	message := fmt.Sprintf("%s was made by PostgreSQL %d, which this machine does not have (found: %s; %v)", e.Dir, e.Major, found, e.Err)
	if e.Major < pgchild.MinMajor {
		return message + fmt.Sprintf(": Rowlock needs version %d or newer: upgrade the cluster with pg_upgrade, "+
			"or dump it and restore it into an empty data directory; nothing was changed", pgchild.MinMajor)
	}
	return message + fmt.Sprintf(": install PostgreSQL %d, or upgrade the cluster with pg_upgrade, "+
		"or dump it and restore it into an empty data directory; nothing was changed", e.Major)
}

// Unwrap returns why programs could not be fetched.
func (e *VersionError) Unwrap() error { return e.Err }

// fetched returns programs that were fetched before or are fetched now.
func (s *Server) fetched(ctx context.Context, user pgchild.User, major int) (pgchild.Install, error) {
	version, ok := fetchable[major]
	if !ok || major < pgchild.MinMajor {
		return pgchild.Install{}, fmt.Errorf("no programs of version %d can be fetched", major)
	}
	dir := filepath.Join(s.layout.binaries, string(version))
	install, err := pgchild.Inspect(ctx, filepath.Join(dir, "bin"))
	if err != nil {
		s.log.Info("fetching PostgreSQL", "version", string(version), "from", s.repository)
		if err := fetch(ctx, s.repository, version, dir); err != nil {
			return pgchild.Install{}, err
		}
		install, err = pgchild.Inspect(ctx, filepath.Join(dir, "bin"))
	}
	return install, errors.Join(err, user.CheckReach(install.Program("postgres")))
}
