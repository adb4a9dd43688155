package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// LaneOverdue is how long after its alarm a lane that nobody holds should
	// long have been taken: nodes look each second.
	LaneOverdue = 10 * time.Second
	// LaneAbandoned is how long after its lease's end a lane should long have
	// been taken over: alarm, steadiness and a moment.
	LaneAbandoned = 15 * time.Second
	// searchedLanes bounds how many lanes without an alarm are searched for
	// work; the repair of lanes searches them all.
	searchedLanes = 1000
)

// LaneState is who sends for an endpoint, and when somebody will, for the
// instance's owner.
type LaneState struct {
	EndpointID       gateway.EndpointID
	AccountID        gateway.AccountID
	AccountName      string
	URL, Description string
	// Node holds the lane since HeldSince, until LeasedUntil; nil for nobody.
	Node                   *string
	HeldSince, LeasedUntil *time.Time
	// WakeAt is the alarm, SleepUntil the end of a pause after failed probes.
	WakeAt, SleepUntil *time.Time
	Fence              int64
	InFlightCap        int
	MaxInFlight        int
	FailedProbes       int
	TimingOut          bool
	// Stuck tells that somebody should have taken the lane long ago.
	Stuck bool
}

const laneFields = `
	l.endpoint_id, l.account_id, a.name AS account_name, p.url, p.description,
	l.node, l.held_since, l.leased_until, l.wake_at,
	CASE WHEN l.sleep_until > clock_timestamp() THEN l.sleep_until END AS sleep_until,
	l.fence, l.in_flight_cap, p.max_in_flight, l.failed_probes, l.timing_out`

// laneStuck tells of a lane whose alarm or lease ended long ago.
const laneStuck = `(l.leased_until < clock_timestamp() - @abandoned::interval
	 OR l.leased_until IS NULL AND l.wake_at < clock_timestamp() - @overdue::interval)`

// LaneStates lists the lanes that are held or will be woken: those first that
// nobody took although it was time, then those that are held, and then by their
// alarms.
func (s *Store) LaneStates(ctx context.Context, limit int) ([]LaneState, error) {
	lanes, err := s.laneStates(ctx, `
		SELECT `+laneFields+`, COALESCE(`+laneStuck+`, false) AS stuck
		FROM lanes l
		JOIN endpoints p ON p.id = l.endpoint_id
		JOIN accounts a ON a.id = l.account_id
		WHERE l.leased_until IS NOT NULL
		   OR l.wake_at IS NOT NULL
		      AND p.state = 'active'
		      AND p.deleted_at IS NULL
		      AND `+drainable+`
		ORDER BY COALESCE(`+laneStuck+`, false) DESC, l.leased_until NULLS LAST, l.wake_at
		LIMIT @limit`, pgx.NamedArgs{"limit": limit, "overdue": LaneOverdue, "abandoned": LaneAbandoned})
	return lanes, wrap("list lanes", err)
}

// SilentLanes lists lanes that have neither holder nor alarm although something
// is due, and was before a job can be waited for. The repair of lanes finds them
// within a minute.
func (s *Store) SilentLanes(ctx context.Context, limit int) ([]LaneState, error) {
	lanes, err := s.laneStates(ctx, `
		SELECT `+laneFields+`, true AS stuck
		FROM (
			SELECT *
			FROM lanes
			WHERE leased_until IS NULL
			  AND wake_at IS NULL
			LIMIT @searched
		) l
		JOIN endpoints p ON p.id = l.endpoint_id
		JOIN accounts a ON a.id = l.account_id
		WHERE p.state = 'active'
		  AND p.deleted_at IS NULL
		  AND `+drainable+`
		  AND EXISTS (
			SELECT 1
			FROM (VALUES (0), (1), (2)) AS r (priority)
			CROSS JOIN LATERAL (
				SELECT 1
				FROM deliveries
				WHERE endpoint_id = l.endpoint_id
				  AND priority = r.priority
				  AND status = 'pending'
				  AND next_attempt_at <= now() - @overdue::interval
				  AND `+notAhead+`
				LIMIT 1
			) d
		  )
		LIMIT @limit`, pgx.NamedArgs{"limit": limit, "searched": searchedLanes, "overdue": LaneOverdue})
	return lanes, wrap("list lanes without an alarm", err)
}

func (s *Store) laneStates(ctx context.Context, sql string, args pgx.NamedArgs) ([]LaneState, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[LaneState])
}

// LaneCounts is how many lanes there are, by how they stand.
type LaneCounts struct{ Held, Sleeping, Waiting, Stuck int }

// CountLanes counts the lanes of the instance.
func (s *Store) CountLanes(ctx context.Context) (c LaneCounts, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE l.leased_until IS NOT NULL),
		       count(*) FILTER (WHERE l.leased_until IS NULL AND l.sleep_until > clock_timestamp()),
		       count(*) FILTER (WHERE l.leased_until IS NULL AND l.wake_at IS NOT NULL
		                          AND (l.sleep_until IS NULL OR l.sleep_until <= clock_timestamp())),
		       count(*) FILTER (WHERE `+laneStuck+`)
		FROM lanes l
		JOIN endpoints p ON p.id = l.endpoint_id
		WHERE p.state = 'active'
		  AND p.deleted_at IS NULL
		  AND `+drainable,
		pgx.NamedArgs{"overdue": LaneOverdue, "abandoned": LaneAbandoned}).
		Scan(&c.Held, &c.Sleeping, &c.Waiting, &c.Stuck)
	return c, wrap("count lanes", err)
}

// NodeState is a process that works on the database, as it said of itself.
type NodeState struct {
	Node
	SeenAt, SteadySince, StartedAt time.Time
	// Alive tells that it is seen now, and Steady that it may take lanes over.
	Alive, Steady bool
	// Held is how many lanes are in its name.
	Held int
}

// Nodes lists the nodes that are alive or were an hour ago, the newest first.
func (s *Store) Nodes(ctx context.Context) ([]NodeState, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT node, roles, version, seen_at, steady_since, started_at,
		       seen_at > clock_timestamp() - $1::interval,
		       steady_since < clock_timestamp() - $2::interval,
		       (SELECT count(*) FROM lanes WHERE lanes.node = nodes.node AND leased_until IS NOT NULL)
		FROM nodes
		ORDER BY started_at DESC, node`, NodeGap, NodeSteady)
	if err != nil {
		return nil, wrap("list nodes", err)
	}
	nodes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n NodeState, err error) {
		err = row.Scan(&n.Name, &n.Roles, &n.Version, &n.SeenAt, &n.SteadySince, &n.StartedAt, &n.Alive, &n.Steady, &n.Held)
		return n, err
	})
	return nodes, wrap("list nodes", err)
}
