//go:build !linux

package throwaway

import "os"

// Place is the directory to make short-lived clusters in.
func Place() string { return os.TempDir() }
