package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// mergeFailures puts the steps of each group together, which come in the order
// of groups and time: the largest group first. counted is how many failures
// these are.
func mergeFailures(steps []FailureGroup) (groups []FailureGroup, counted int) {
	for _, step := range steps {
		counted += step.Count
		if last := len(groups) - 1; last >= 0 && groups[last].EndpointID == step.EndpointID && groups[last].Cause == step.Cause {
			groups[last].add(step)
			continue
		}
		groups = append(groups, step)
	}
	slices.SortStableFunc(groups, func(a, b FailureGroup) int { return cmp.Compare(b.Count, a.Count) })
	return groups, counted
}

// add adds a later step.
func (g *FailureGroup) add(step FailureGroup) {
	g.Count += step.Count
	g.First, g.Last = earlier(g.First, step.First), later(g.Last, step.Last)
	if compareIDs(step.Oldest, g.Oldest) < 0 {
		g.Oldest = step.Oldest
	}
	g.Newest = append(g.Newest, step.Newest...)
	slices.SortFunc(g.Newest, func(a, b gateway.DeliveryID) int { return compareIDs(b, a) })
	g.Newest = g.Newest[:min(len(g.Newest), NewestOfGroup)]
	if g.NextAttemptAt == nil || step.NextAttemptAt != nil && step.NextAttemptAt.Before(*g.NextAttemptAt) {
		g.NextAttemptAt = step.NextAttemptAt
	}
	g.Trend = append(g.Trend, step.Trend...)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
