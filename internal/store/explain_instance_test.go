package store_test

import (
	"context"

	"github.com/rowlock/rowlock/internal/store"
)

// instanceReads are what the instance's owner sees of lanes, nodes and jobs.
func (x *explained) instanceReads() []call {
	return []call{
		only("lanes", func(ctx context.Context) ([]store.LaneState, error) { return x.LaneStates(ctx, listed) }),
		only("silent lanes", func(ctx context.Context) ([]store.LaneState, error) { return x.SilentLanes(ctx, listed) }),
		only("count lanes", x.CountLanes),
		only("nodes", x.Nodes),
		only("count jobs", x.JobCounts),
		only("storage", x.Storage),
		only("standing", x.Standing),
	}
}
