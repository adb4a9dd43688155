package pgchild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MinMajor is the oldest major version of PostgreSQL that Rowlock runs on.
const MinMajor = 15

// HowToInstall tells an operator how to get PostgreSQL's programs.
const HowToInstall = "install PostgreSQL 15 or newer (Debian, Ubuntu: apt-get install postgresql; " +
	"Fedora: dnf install postgresql-server; macOS: brew install postgresql) or put its bin directory on the PATH"

// versionTimeout bounds one "postgres --version", which takes milliseconds
// unless its file system hangs.
const versionTimeout = 10 * time.Second

// ErrNoInstall says that no usable PostgreSQL was found on this machine.
var ErrNoInstall = errors.New("no PostgreSQL found on this machine")

// wellKnown lists where packages put the programs when they leave them off the
// PATH.
var wellKnown = []string{
	"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
	"/usr/pgsql-*/bin",                  // PostgreSQL's own RPMs
	"/usr/libexec/postgresql*",          // Alpine
	"/usr/local/pgsql/bin",              // from source
	"/opt/homebrew/opt/postgresql*/bin", // Homebrew, Apple silicon
	"/usr/local/opt/postgresql*/bin",    // Homebrew, Intel
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
	"/opt/local/lib/postgresql*/bin", // MacPorts
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// Install is one installation of PostgreSQL.
type Install struct {
	// Bin is the absolute directory of the programs.
	Bin string
	// Major is the major version, such as 15.
	Major int
}

// Program returns the path of one of the installation's programs.
func (i Install) Program(name string) string { return filepath.Join(i.Bin, name) }

// Installs lists the installations on this machine, preferred first: what the
// PATH and pg_config name, then the newest of the well-known places.
func Installs(ctx context.Context) []Install {
	chosen := inspectAll(ctx, onPath(ctx))
	known := inspectAll(ctx, expand(wellKnown))
	slices.SortStableFunc(known, func(a, b Install) int { return b.Major - a.Major })
	return distinct(append(chosen, known...))
}

// Find returns the preferred installation of major version MinMajor or newer
// whose programs u may run. The error wraps ErrNoInstall.
func Find(ctx context.Context, u User) (Install, error) {
	all := Installs(ctx)
	for _, i := range all {
		if i.Major >= MinMajor && u.CheckReach(i.Program("postgres")) == nil {
			return i, nil
		}
	}
	if len(all) == 0 {
		return Install{}, ErrNoInstall
	}
	return Install{}, fmt.Errorf("%w that is version %d or newer and that user %q may run: found %s",
		ErrNoInstall, MinMajor, u.Name, Describe(all))
}

// Describe lists installations for a message to an operator.
func Describe(all []Install) string {
	texts := make([]string, len(all))
	for n, i := range all {
		texts[n] = fmt.Sprintf("%d in %s", i.Major, i.Bin)
	}
	return strings.Join(texts, ", ")
}

// Inspect reads the version of the programs in dir. It fails unless both
// initdb and postgres are there.
func Inspect(ctx context.Context, dir string) (Install, error) {
	bin, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Install{}, fmt.Errorf("look for PostgreSQL: %w", err)
	}
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err != nil {
		return Install{}, fmt.Errorf("look for PostgreSQL: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		return Install{}, fmt.Errorf("ask %s for its version: %w", bin, err)
	}
	major, err := parseMajor(string(out))
	if err != nil {
		return Install{}, fmt.Errorf("ask %s for its version: %w", bin, err)
	}
	return Install{Bin: bin, Major: major}, nil
}

// version matches the number in "postgres (PostgreSQL) 15.8 (Debian …)",
// "17beta1" and "18devel".
var version = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

func parseMajor(s string) (int, error) {
	m := version.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("unknown version %q", strings.TrimSpace(s))
	}
	return strconv.Atoi(m[1])
}

// onPath returns the directories that the PATH leads to, links followed.
func onPath(ctx context.Context) []string {
	var dirs []string
	for _, program := range []string{"postgres", "initdb"} {
		if p, err := exec.LookPath(program); err == nil {
			if p, err = filepath.EvalSymlinks(p); err == nil {
				dirs = append(dirs, filepath.Dir(p))
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	return dirs
}

func expand(patterns []string) []string {
	var dirs []string
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err == nil {
			dirs = append(dirs, found...)
		}
	}
	return dirs
}

// inspectAll keeps the directories that hold a working PostgreSQL.
func inspectAll(ctx context.Context, dirs []string) []Install {
	var all []Install
	for _, d := range dirs {
		if i, err := Inspect(ctx, d); err == nil {
			all = append(all, i)
		}
	}
	return all
}

func distinct(all []Install) []Install {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(i Install) bool {
		again := seen[i.Bin]
		seen[i.Bin] = true
		return again
	})
}
