package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// previousFile holds the former master key while stored secrets are moved to
// the new one.
const previousFile = keyFile + ".previous"

// LoadMasterKeys reads the master key of a data directory, and the former one
// while there is one. It makes nothing: a key that is not there is an error.
func LoadMasterKeys(dataDir string) (current MasterKey, previous []MasterKey, err error) {
	if current, err = readMasterKey(filepath.Join(dataDir, keyFile)); err != nil {
		return current, nil, err
	}
	former, err := readMasterKey(filepath.Join(dataDir, previousFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return current, nil, nil
	case err != nil:
		return current, nil, err
	}
	return current, []MasterKey{former}, nil
}

// ReplaceMasterKey puts a new master key into a data directory and keeps the
// one before it beside it, until DropPreviousMasterKey. At every moment, and
// wherever a crash ends this, the files hold a key that opens the keyset. While
// a former key is kept, its replacement goes on: no second one is made. It
// tells whether it made a key.
func ReplaceMasterKey(dataDir string) (bool, error) {
	current, previous, err := LoadMasterKeys(dataDir)
	if err != nil {
		return false, err
	}
	if len(previous) > 0 && previous[0] != current {
		return false, nil
	}
	path := filepath.Join(dataDir, keyFile)
	if err := os.Link(path, filepath.Join(dataDir, previousFile)); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("keep the former master key: %w", err)
	}
	// The former key's name is durable before the new key takes its place.
	if err := syncDir(dataDir); err != nil {
		return false, err
	}
	draft, err := writeDraft(dataDir)
	if err != nil {
		return false, err
	}
	if err := os.Rename(draft, path); err != nil {
		return false, errors.Join(fmt.Errorf("replace master key: %w", err), os.Remove(draft))
	}
	return true, syncDir(dataDir)
}

// DropPreviousMasterKey removes the former master key, which must open nothing
// any more, and tells whether there was one.
func DropPreviousMasterKey(dataDir string) (bool, error) {
	err := os.Remove(filepath.Join(dataDir, previousFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("remove the former master key: %w", err)
	}
	return true, syncDir(dataDir)
}
