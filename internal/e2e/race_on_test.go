//go:build race

package e2e

// raceEnabled tells that the tests are built with the race detector.
const raceEnabled = true
