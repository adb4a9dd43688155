package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// ownerTimeout is how long to wait for another process that holds the server
// but does not answer: longer than making a cluster takes.
const ownerTimeout = 2 * time.Minute

// answersNeeded is how often in a row, a poll apart, another process's server
// has to answer. That of a process that is being killed may answer once.
const answersNeeded = 3

// ownership is the exclusive lock on postgres.lock that the process holds
// whose child the server is. The kernel lets it go with the process.
type ownership struct {
	once sync.Once
	file *os.File
	err  error
}

// claim takes the ownership; nil without an error when another process has it.
func (l layout) claim() (*ownership, error) {
	f, err := os.OpenFile(l.lock, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data directory: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &ownership{file: f}, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, f.Close()
	}
	return nil, errors.Join(fmt.Errorf("lock the data directory: %w", err), f.Close())
}

// release lets another process become the owner.
func (o *ownership) release() error {
	o.once.Do(func() { o.err = o.file.Close() })
	return o.err
}

// await returns the ownership, or nil when another process has it and its
// server answers.
func (l layout) await(ctx context.Context) (*ownership, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ownerTimeout, fmt.Errorf(
		"another process holds %s and its server does not answer: see %s", l.lock, l.log))
	defer cancel()
	var owner *ownership
	answers := 0
	err := until(ctx, func() (bool, error) {
		var err error
		if owner, err = l.claim(); owner != nil || err != nil {
			return true, err
		}
		if probe(ctx, l.url(role, database)) != nil {
			answers = 0
			return false, nil
		}
		answers++
		return answers == answersNeeded, nil
	})
	if err != nil {
		return nil, fmt.Errorf("wait for the owner of the data directory: %w", err)
	}
	return owner, nil
}
