package rotate

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/store"
)

const (
	// waitForNodes is how long nodes have to take the new key over: many times
	// what one needs that is alive.
	waitForNodes = 30 * time.Second
	// nodesEvery is how often is looked whether they have.
	nodesEvery = 500 * time.Millisecond
)

// NodesError tells that nodes run which could not open the rotated keyset.
type NodesError struct {
	// Names are the nodes' names.
	Names []string
}

// Error says which.
func (e *NodesError) Error() string {
	return "these nodes have not got the new master key: " + strings.Join(e.Names, ", ")
}

// LateError tells that nodes go on sealing with an older key. All that is
// stored opens, and the rotation is to be run again.
type LateError struct {
	// Names are the nodes' names.
	Names []string
}

// Error says which.
func (e *LateError) Error() string {
	return "these nodes still seal with the former key: " + strings.Join(e.Names, ", ")
}

// checkNodes refuses to rotate while a node could not follow: its deliveries
// would stop. Where Rowlock makes the master key itself, nodes read it when
// they need it.
func (r *rotation) checkNodes(ctx context.Context) error {
	if r.Renew != nil {
		return nil
	}
	current, _, err := r.Masters()
	if err != nil {
		return err
	}
	nodes, err := r.Store.KeysOfNodes(ctx)
	if err != nil {
		return err
	}
	var blind []string
	for _, node := range nodes {
		if !slices.Contains(node.Masters, current.Fingerprint()) {
			blind = append(blind, node.Name)
		}
	}
	if len(blind) > 0 {
		return &NodesError{blind}
	}
	return nil
}

// waitForNodes waits until each node that is alive seals with the new key, so
// that nothing is sealed with an older one after the last pass.
func (r *rotation) waitForNodes(ctx context.Context) error {
	deadline := time.NewTimer(r.patience)
	defer deadline.Stop()
	tick := time.NewTicker(nodesEvery)
	defer tick.Stop()
	for {
		nodes, err := r.Store.KeysOfNodes(ctx)
		if err != nil {
			return err
		}
		r.report.Nodes, r.report.Late = len(nodes), r.late(nodes)
		if len(r.report.Late) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// late names the nodes that seal with another key.
func (r *rotation) late(nodes []store.NodeKeys) []string {
	var names []string
	for _, node := range nodes {
		if node.Key == nil || *node.Key != r.report.Key {
			names = append(names, node.Name)
		}
	}
	return names
}
