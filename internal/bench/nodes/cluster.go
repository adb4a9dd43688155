package main

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/bench/served"
)

// howMany nodes run.
const howMany = 3

// cluster is some nodes on one database, behind a balancer.
type cluster struct {
	nodes    []*served.Server
	balancer *balancer
	key      string
}

func startCluster(ctx context.Context, program *served.Program, o options) (*cluster, error) {
	c := &cluster{}
	for range howMany {
		node, err := program.Serve(ctx, o.url, "ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8", "ROWLOCK_DRAIN_PAUSE="+o.pause.String())
		if err != nil {
			return nil, errors.Join(err, c.stop())
		}
		c.nodes = append(c.nodes, node)
	}
	key, err := c.nodes[0].Account(ctx, "nodes")
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	c.key = key
	c.balancer, err = balance(ctx, c.nodes)
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, until(ctx, "the balancer sees the nodes", c.balancer.allReady)
}

func (c *cluster) stop() error {
	if c.balancer != nil {
		c.balancer.close()
	}
	var errs []error
	for _, node := range c.nodes {
		errs = append(errs, node.Stop())
	}
	return errors.Join(errs...)
}
