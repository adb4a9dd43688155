package throwaway

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	// prefix begins the name of every directory whose owner's lock is taken.
	prefix = "rowlock-pgtest-"
	// unlocked begins the name of one that is still being made, which a sweep
	// leaves alone.
	unlocked = "rowlock-new-pgtest-"
	// lockName is the file that an owner holds locked as long as it lives.
	lockName = "owner.lock"
)

// dir is a temporary directory that can be told from a left-over: its owner
// holds a lock, which the kernel lets go when the owner dies.
type dir struct {
	path string
	lock *os.File
}

// makeDir makes a directory under parent. It gets the name that a sweep looks
// for only when its lock is held.
func makeDir(parent string) (*dir, error) {
	fresh, err := os.MkdirTemp(parent, unlocked)
	if err != nil {
		return nil, fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	lock, err := takeLock(fresh, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(fresh))
	}
	path := filepath.Join(parent, prefix+strings.TrimPrefix(filepath.Base(fresh), unlocked))
	if err := os.Rename(fresh, path); err != nil {
		return nil, errors.Join(fmt.Errorf("name a directory for PostgreSQL: %w", err), lock.Close(), os.RemoveAll(fresh))
	}
	return &dir{path: path, lock: lock}, nil
}

func (d *dir) remove() error {
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

func takeLock(in string, flag int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(in, lockName), os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the owner's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("take the owner's lock: %w", err), f.Close())
	}
	return f, nil
}

// sweep removes the directories under parent whose owners died without a
// chance to clean up. Whatever cannot be removed waits for another sweep.
func sweep(parent string) {
	left, err := filepath.Glob(filepath.Join(parent, prefix+"*"))
	if err != nil {
		return
	}
	for _, path := range left {
		if lock, err := takeLock(path, 0); err == nil {
			_ = (&dir{path: path, lock: lock}).remove()
		}
	}
}
