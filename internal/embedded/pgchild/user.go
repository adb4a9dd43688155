package pgchild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// User is the account of the operating system that PostgreSQL runs under.
// PostgreSQL refuses to run as root, so a root process has to choose another.
type User struct {
	// Name is for messages; a bare number when the account has no name.
	Name string
	// UID and GID identify the account.
	UID, GID uint32
	// Drop says that this process is root and its children change to the
	// account.
	Drop bool
}

// unprivileged are the accounts that root drops to, preferred first.
var unprivileged = []string{"postgres", "nobody"}

// Choose returns the account to run PostgreSQL under: this process's own,
// unless that is root. Then it is the owner of dataDir when it exists and does
// not belong to root, so that a cluster stays with whoever made it; else the
// user postgres; else nobody.
func Choose(dataDir string) (User, error) {
	if uid := os.Geteuid(); uid != 0 {
		return named(uint32(uid), uint32(os.Getegid()), false), nil //nolint:gosec // ids have 32 bits
	}
	if uid, gid, err := owner(dataDir); err == nil && uid != 0 {
		return named(uid, gid, true), nil
	}
	for _, name := range unprivileged {
		if u, err := user.Lookup(name); err == nil {
			return parse(u)
		}
	}
	return User{}, errors.New("PostgreSQL does not run as root and this machine has no user postgres or nobody: " +
		"run as another user, or create one with: useradd --system postgres")
}

func named(uid, gid uint32, drop bool) User {
	u := User{Name: strconv.FormatUint(uint64(uid), 10), UID: uid, GID: gid, Drop: drop}
	if found, err := user.LookupId(u.Name); err == nil {
		u.Name = found.Username
	}
	return u
}

func parse(u *user.User) (User, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return User{}, fmt.Errorf("read the id of user %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return User{}, fmt.Errorf("read the group of user %s: %w", u.Username, err)
	}
	return User{Name: u.Username, UID: uint32(uid), GID: uint32(gid), Drop: true}, nil
}

func owner(path string) (uid, gid uint32, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("read the owner of %s: not known here", path)
	}
	return st.Uid, st.Gid, nil
}

// Own gives path itself, and nothing below it, to the user when privileges are
// dropped.
func (u User) Own(path string) error {
	if !u.Drop {
		return nil
	}
	if err := os.Lchown(path, int(u.UID), int(u.GID)); err != nil {
		return fmt.Errorf("give %s to user %s: %w", path, u.Name, err)
	}
	return nil
}

// CheckOwns makes sure that path belongs to the user, as PostgreSQL demands of
// its data directory. A copy made by root often does not.
func (u User) CheckOwns(path string) error {
	uid, _, err := owner(path)
	if err != nil {
		return fmt.Errorf("check the owner of %s: %w", path, err)
	}
	if uid != u.UID {
		return fmt.Errorf("%s belongs to user id %d and PostgreSQL is to run as %s: change it with: chown -R %s %s",
			path, uid, u.Name, u.Name, path)
	}
	return nil
}

// UnreachableError says that a directory on the way to a path cannot be
// entered by the user that PostgreSQL runs under.
type UnreachableError struct {
	// Path is what was to be reached, Dir the directory that is in the way.
	Path, Dir string
	// User is the account that cannot enter Dir.
	User string
}

// Error names the directory that is in the way.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("user %q, which PostgreSQL runs under because this process is root, cannot reach %s: "+
		"it may not enter %s", e.User, e.Path, e.Dir)
}

// CheckReach says whether the user may enter every existing directory above
// path, by their owners and mode bits. It returns an *UnreachableError naming
// the first that it may not. Without dropped privileges there is nothing to
// check: the operating system's own answer is as clear.
func (u User) CheckReach(path string) error {
	if !u.Drop {
		return nil
	}
	parents, err := parents(path)
	if err != nil {
		return err
	}
	for _, dir := range parents {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("check the way to %s: %w", path, err)
		}
		if !u.mayEnter(info) {
			return &UnreachableError{Path: path, Dir: dir, User: u.Name}
		}
	}
	return nil
}

// parents lists the directories above path from the root down, symbolic links
// of the existing part resolved.
func parents(path string) ([]string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("make %s absolute: %w", path, err)
	}
	dir := filepath.Dir(path)
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	dirs := []string{dir}
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		dirs = append([]string{dir}, dirs...)
	}
	return dirs, nil
}

// The execute bits of a directory's mode, which permit to enter it.
const (
	ownerEnter = 0o100
	groupEnter = 0o010
	otherEnter = 0o001
)

func (u User) mayEnter(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	mode := info.Mode().Perm()
	switch {
	case !ok:
		return true
	case st.Uid == u.UID:
		return mode&ownerEnter != 0
	case st.Gid == u.GID:
		return mode&groupEnter != 0
	default:
		return mode&otherEnter != 0
	}
}
