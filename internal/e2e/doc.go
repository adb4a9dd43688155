// Package e2e tests the built program from outside: real processes on a real
// PostgreSQL, which are killed, frozen and stopped while events come in.
//
// The promise under test is the product's own: what was acknowledged is never
// lost, what was confirmed is never repeated, everything else is retried.
//
// Moments and sizes are random. A run prints its seeds; ROWLOCK_E2E_SEED runs a
// scenario with one of them again:
//
//	ROWLOCK_E2E_SEED=42 go test -run TestServerKilled ./internal/e2e
package e2e
