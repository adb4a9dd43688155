package store

import (
	"context"
	"time"
)

// Node is a process that works on the database.
type Node struct {
	// Name is new at each start.
	Name string
	// Roles and Version are shown to the operator.
	Roles, Version string
}

// Beat tells that a node is alive, and returns the database's time. After a
// gap, being steady starts again.
func (s *Store) Beat(ctx context.Context, n Node) (time.Time, error) {
	var now time.Time
	err := s.pool.QueryRow(ctx, `
		INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version)
		VALUES ($1, clock_timestamp(), clock_timestamp(), clock_timestamp(), $2, $3)
		ON CONFLICT (node) DO UPDATE
		SET seen_at = clock_timestamp(),
		    steady_since = CASE
			WHEN nodes.seen_at < clock_timestamp() - $4::interval THEN clock_timestamp()
			ELSE nodes.steady_since
		    END
		RETURNING clock_timestamp()`, n.Name, n.Roles, n.Version, NodeGap).Scan(&now)
	return now.UTC(), wrap("tell that the node is alive", err)
}

// ForgetNodes removes nodes that were last seen before an age.
func (s *Store) ForgetNodes(ctx context.Context, age time.Duration) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM nodes WHERE seen_at < now() - $1::interval`, age)
	return wrap("forget old nodes", err)
}

// LeaveNode removes a node that stops in order.
func (s *Store) LeaveNode(ctx context.Context, name string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM nodes WHERE node = $1`, name)
	return wrap("remove the node", err)
}

// OtherNodes tells whether another node with the worker role is alive, to
// which lanes could go.
func (s *Store) OtherNodes(ctx context.Context, name string) (bool, error) {
	var others bool
	err := s.pool.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM nodes
			WHERE node <> $1
			  AND roles LIKE '%worker%'
			  AND seen_at > clock_timestamp() - $2::interval)`, name, NodeGap).Scan(&others)
	return others, wrap("look for other nodes", err)
}
