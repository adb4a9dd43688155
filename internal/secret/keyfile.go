package secret

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// keyFile holds the generated master key, under the data directory.
	keyFile = "master.key"
	// keyFileMode lets nobody but the owner read the key.
	keyFileMode = 0o600
	// dataDirMode lets nobody but the owner look into the data directory.
	dataDirMode = 0o700
)

// LoadOrCreateMasterKey returns the master key of a data directory, which is
// made when it is missing. It is for the embedded database, whose files lie
// beside the key.
//
// A key once written is not overwritten or removed, since nothing else opens
// the stored secrets: of two processes that start together one writes it and
// both read it, and a file that holds no key is an error. Only a rotation
// replaces it: see ReplaceMasterKey.
func LoadOrCreateMasterKey(dataDir string) (MasterKey, error) {
	path := filepath.Join(dataDir, keyFile)
	key, err := readMasterKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(dataDir, dataDirMode); err != nil {
		return MasterKey{}, fmt.Errorf("make data directory: %w", err)
	}
	if err := createMasterKey(path); err != nil {
		return MasterKey{}, err
	}
	return readMasterKey(path)
}

func readMasterKey(path string) (MasterKey, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own path
	if err != nil {
		return MasterKey{}, fmt.Errorf("read master key: %w", err)
	}
	key, err := ParseMasterKey(string(text))
	if err != nil {
		return MasterKey{}, fmt.Errorf("read %s: %w; restore the file from a backup: the stored secrets open with no other key", path, err)
	}
	return key, nil
}

// createMasterKey writes a new key to path unless there is a file already.
// The key is complete and on disk before it gets that name, so that no crash
// leaves half a key.
func createMasterKey(path string) (err error) {
	draft, err := writeDraft(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(draft)) }()
	if err := os.Link(draft, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write master key: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// writeDraft writes a new key to a file of its own and returns its name.
func writeDraft(dir string) (name string, err error) {
	file, err := os.CreateTemp(dir, keyFile+".*") // made with mode 0600
	if err != nil {
		return "", fmt.Errorf("write master key: %w", err)
	}
	var key MasterKey
	_, _ = rand.Read(key[:]) // never fails: it would end the process first
	_, err = file.WriteString(key.Reveal() + "\n")
	err = errors.Join(err, file.Chmod(keyFileMode), file.Sync(), file.Close())
	if err != nil {
		return "", errors.Join(fmt.Errorf("write master key: %w", err), os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator's own path
	if err != nil {
		return fmt.Errorf("sync data directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync data directory: %w", err)
	}
	return nil
}
