package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/secret"
)

// Node is a process that works on the database.
type Node struct {
	// Name is new at each start.
	Name string
	// Roles and Version are shown to the operator.
	Roles, Version string
}

// Beat tells that a node is alive and which keys it has, and returns the
// database's time. After a gap, being steady starts again.
func (s *Store) Beat(ctx context.Context, n Node) (time.Time, error) {
	var key *int64
	var masters []string
	if s.sealer != nil {
		key, masters = new(int64(s.sealer.KeyID())), s.sealer.Masters()
	}
	var now time.Time
	err := s.pool.QueryRow(ctx, `
		INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version, key_id, master_keys)
		VALUES ($1, clock_timestamp(), clock_timestamp(), clock_timestamp(), $2, $3, $5, $6)
		ON CONFLICT (node) DO UPDATE
		SET seen_at = clock_timestamp(),
		    key_id = EXCLUDED.key_id,
		    master_keys = EXCLUDED.master_keys,
		    steady_since = CASE
			WHEN nodes.seen_at < clock_timestamp() - $4::interval THEN clock_timestamp()
			ELSE nodes.steady_since
		    END
		RETURNING clock_timestamp()`, n.Name, n.Roles, n.Version, NodeGap, key, masters).Scan(&now)
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

// NodeKeys are the keys that a node which is alive has.
type NodeKeys struct {
	Name string
	// Key is the one that it seals with; nil for a version that does not tell.
	Key *secret.KeyID
	// Masters are the fingerprints of its master keys.
	Masters []string
}

// NodeKeysAge is how long a node that is not seen any more counts as one that
// may go on sealing.
const NodeKeysAge = 10 * time.Second

// KeysOfNodes lists the keys of the nodes that are alive, by their names.
func (s *Store) KeysOfNodes(ctx context.Context) ([]NodeKeys, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT node, key_id, master_keys
		FROM nodes
		WHERE seen_at > clock_timestamp() - $1::interval
		ORDER BY node`, NodeKeysAge)
	if err != nil {
		return nil, wrap("list the keys of nodes", err)
	}
	nodes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n NodeKeys, err error) {
		var id *int64
		if err := row.Scan(&n.Name, &id, &n.Masters); err != nil || id == nil {
			return n, err
		}
		n.Key = new(secret.KeyID(*id)) //nolint:gosec // it was written as one
		return n, nil
	})
	return nodes, wrap("list the keys of nodes", err)
}
