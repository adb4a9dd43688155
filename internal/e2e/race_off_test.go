//go:build !race

package e2e

// raceEnabled tells to build the program under test as the tests are built, so
// that its data races are found as well.
const raceEnabled = false
