package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	library "github.com/fergusstrange/embedded-postgres"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

const (
	// mavenCentral is where fetched programs come from. It
	// publishes a checksum beside each archive.
	mavenCentral = "https://repo1.maven.org/maven2"
	// defaultMajor is the version that a new cluster gets when programs have
	// to be fetched: the newest that has had a year of minor releases.
	defaultMajor = 17
)

// fetchable lists the versions that can be fetched, by major version.
var fetchable = map[int]library.PostgresVersion{
	15: library.V15,
	16: library.V16,
	17: library.V17,
	18: library.V18,
}

// fetch downloads PostgreSQL's programs and puts them in dir, all or nothing.
// When ctx ends it returns at once; the download then ends with the process.
func fetch(ctx context.Context, from string, version library.PostgresVersion, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return fmt.Errorf("make a directory for PostgreSQL's programs: %w", err)
	}
	scratch, err := os.MkdirTemp(filepath.Dir(dir), "new-*")
	if err != nil {
		return fmt.Errorf("make a directory for PostgreSQL's programs: %w", err)
	}
	got := make(chan error, 1)
	go func() { got <- download(ctx, from, version, scratch) }()
	select {
	case err = <-got:
	case <-ctx.Done():
		return fmt.Errorf("fetch PostgreSQL %s: %w", version, context.Cause(ctx))
	}
	if err == nil {
		err = os.Rename(filepath.Join(scratch, "programs"), dir)
	}
	// The scratch directory holds an archive and programs, never data.
	if err := errors.Join(err, os.RemoveAll(scratch)); err != nil {
		return fmt.Errorf("fetch PostgreSQL %s: %w", version, err)
	}
	return nil
}

// download uses the library for what it is good at: finding the archive for
// this system, checking and unpacking it. The library does that only as a part
// of starting a server, and is not to be let near a cluster: it empties one
// whose version it does not expect. So it is given a stand-in of a cluster in
// the scratch directory, which has a version and nothing else. Its start then
// fails after unpacking, and whether the programs work tells what came of it.
func download(ctx context.Context, from string, version library.PostgresVersion, scratch string) error {
	programs, standIn := filepath.Join(scratch, "programs"), filepath.Join(scratch, "stand-in")
	if err := os.Mkdir(standIn, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(standIn, "PG_VERSION"), []byte(version), fileMode); err != nil {
		return err
	}
	server := library.NewDatabase(library.DefaultConfig().
		Version(version).
		BinaryRepositoryURL(from).
		CachePath(filepath.Join(scratch, "archive")).
		BinariesPath(programs).
		RuntimePath(filepath.Join(scratch, "run")).
		DataPath(standIn).
		Port(0). // none is taken, so none can be in use
		Logger(io.Discard))
	startErr := server.Start()
	if startErr == nil {
		return errors.Join(errors.New("the stand-in of a cluster was started"), server.Stop())
	}
	if _, err := pgchild.Inspect(ctx, filepath.Join(programs, "bin")); err != nil {
		return errors.Join(startErr, err)
	}
	return nil
}
