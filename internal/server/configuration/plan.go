package configuration

import (
	"context"
	"encoding/binary"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// plan is what the account would have by then, where nothing is changed: what it
// has, and what the document has brought so far. So a dry run refuses what the
// statements of a real one would.
type plan struct {
	types     int
	endpoints map[gateway.EndpointID]planned
	// before are those that fail over to an endpoint.
	before map[gateway.EndpointID]map[gateway.EndpointID]bool
	// made are those that are not there yet, by their names.
	made map[string]gateway.EndpointID
}

// planned is an endpoint as it would be.
type planned struct {
	name string
	// next is who it fails over to; zero is nobody.
	next gateway.EndpointID
}

// planFrom begins with what the account has.
func (s Service) planFrom(ctx context.Context, account gateway.AccountID) (*plan, error) {
	p := &plan{
		endpoints: map[gateway.EndpointID]planned{}, before: map[gateway.EndpointID]map[gateway.EndpointID]bool{},
		made: map[string]gateway.EndpointID{},
	}
	err := s.eachType(ctx, account, func(gateway.EventType) { p.types++ })
	if err != nil {
		return nil, err
	}
	endpoints, err := s.allEndpoints(ctx, account)
	for _, e := range endpoints {
		p.put(e)
	}
	return p, err
}

// put has an endpoint be as it is given.
func (p *plan) put(e gateway.Endpoint) {
	one := planned{name: gateway.ChainName(e.UID, e.Description, e.URL)}
	delete(p.before[p.endpoints[e.ID].next], e.ID)
	if e.Failover != nil {
		one.next = *e.Failover
		if p.before[one.next] == nil {
			p.before[one.next] = map[gateway.EndpointID]bool{}
		}
		p.before[one.next][e.ID] = true
	}
	p.endpoints[e.ID] = one
}

// declare counts a new event type in. Errors: gateway.ErrLimitReached.
func (p *plan) declare() error {
	if p.types >= gateway.MaxEventTypes {
		return gateway.ErrLimitReached
	}
	p.types++
	return nil
}

// add counts a new endpoint in, under a name. Errors: as of making it.
func (p *plan) add(name string, in endpoint.Input, most int) error {
	// No endpoint that is there has such an id: it begins with a time.
	var id gateway.EndpointID
	binary.BigEndian.PutUint64(id[8:], uint64(len(p.made)+1))
	if err := p.join(id, in.Failover); err != nil {
		return err
	}
	if most > 0 && len(p.endpoints) >= most {
		return gateway.ErrLimitReached
	}
	made := gateway.Endpoint{ID: id, UID: &name, Failover: in.Failover}
	if in.Description != nil {
		made.Description = *in.Description
	}
	p.made[name] = id
	p.put(made)
	return nil
}

// join tells whether an endpoint can fail over to another one, as store.Tx does.
func (p *plan) join(id gateway.EndpointID, next *gateway.EndpointID) error {
	if next == nil || next.IsZero() || *next == id {
		return nil
	}
	var links []gateway.ChainLink
	behind := p.behind(id, 1)
	for at := *next; !at.IsZero() && len(links) <= gateway.MaxFailoverDepth; at = p.endpoints[at].next {
		links = append(links, gateway.ChainLink{ID: at, Name: p.endpoints[at].name, Behind: behind})
		if at == id {
			break
		}
	}
	return gateway.CheckChain(links, id)
}

// behind is the longest chain that leads to an endpoint, which is the n-th of it.
func (p *plan) behind(id gateway.EndpointID, n int) int {
	longest := n
	if n > gateway.MaxFailoverDepth {
		return longest
	}
	for before := range p.before[id] {
		longest = max(longest, p.behind(before, n+1))
	}
	return longest
}

// allEndpoints reads an account's endpoints, the oldest first.
func (s Service) allEndpoints(ctx context.Context, account gateway.AccountID) ([]gateway.Endpoint, error) {
	return all(func(p store.Page[gateway.EndpointID]) ([]gateway.Endpoint, error) {
		return s.Store.Endpoints(ctx, account, p)
	},
		func(one gateway.Endpoint) gateway.EndpointID { return one.ID })
}

// eachType reads an account's event types, in the order of their names.
func (s Service) eachType(ctx context.Context, account gateway.AccountID, do func(gateway.EventType)) error {
	for after := ""; ; {
		types, err := s.Store.EventTypes(ctx, account, after, pageSize)
		if err != nil {
			return err
		}
		for _, t := range types {
			do(t)
		}
		if len(types) < pageSize {
			return nil
		}
		after = types[len(types)-1].Name
	}
}
