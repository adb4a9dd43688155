package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

const keyList = "api-keys"

// KeyView is an API key, without its text.
type KeyView struct {
	ID              gateway.KeyID   `json:"id" example:"key_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Name            string          `json:"name"`
	Hint            string          `json:"hint" example:"x7k2" doc:"How its text ends, to tell keys apart."`
	Scopes          []gateway.Scope `json:"scopes" enum:"publish,read,manage"`
	EventsPerSecond *int            `json:"events_per_second,omitempty" doc:"Its own limit of events it publishes; left out: the server's."`
	CreatedAt       timestamp       `json:"created_at"`
	EndsAt          *timestamp      `json:"ends_at,omitempty" doc:"When it ends, or ended; left out: it has no end."`
	AllowedIPs      []string        `json:"allowed_ips" nullable:"false" doc:"The addresses and networks that it may be used from; none: from anywhere."`
	LastUsedAt      *timestamp      `json:"last_used_at,omitempty" doc:"When it was used last, give or take a minute; left out: never."`
	LastUsedFrom    *netip.Addr     `json:"last_used_from,omitempty" format:"ip" doc:"The address that it was used from then."`
}

func viewKey(k gateway.APIKey) KeyView {
	return KeyView{
		ID: k.ID, Name: k.Name, Hint: k.Hint, Scopes: k.Scopes, EventsPerSecond: k.EventsPerSecond,
		CreatedAt: timestamp(k.CreatedAt), EndsAt: optionalTime(k.EndsAt),
		AllowedIPs: gateway.NetworkTexts(k.Networks), LastUsedAt: optionalTime(k.LastUsedAt), LastUsedFrom: k.LastUsedFrom,
	}
}

// newKeyView is an API key that was just made, with its text.
type newKeyView struct {
	KeyView

	Key string `json:"key" example:"rk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" doc:"The key itself. It is shown here and never again."`
}

// newKeyBody describes an API key to make.
type newKeyBody struct {
	Name            *string  `json:"name" nullable:"false" minLength:"1" maxLength:"200" example:"orders service"`
	Scopes          []string `json:"scopes" nullable:"false" enum:"publish,read,manage" example:"[\"publish\"]" doc:"What it may do: no more than the key that makes it."`
	EventsPerSecond *int     `json:"events_per_second,omitempty" nullable:"true" minimum:"1" maximum:"1000000" doc:"How many events it may publish in a second. Left out: as many as the key that makes it."`
	EndsAt          *string  `json:"ends_at,omitempty" nullable:"true" format:"date-time" doc:"When it ends by itself. Left out: when the key that makes it does, or never."`
	AllowedIPs      []string `json:"allowed_ips,omitempty" nullable:"true" maxItems:"100" example:"[\"203.0.113.0/24\"]" doc:"The addresses and networks that it may be used from; from elsewhere it is 403 address_not_allowed. Left out: those of the key that makes it."`
}

func (a *API) addKeyRoutes() {
	register(a, route{
		method: get, path: "/api-keys", needs: gateway.PermKeys, status: 200,
		id: "listAPIKeys", tag: tagKeys, summary: "List API keys",
		about: "Those that have ended included. Their texts are not kept.",
	}, a.listKeys)
	registerJSON(a, route{
		method: post, path: "/api-keys", needs: gateway.PermKeys, status: 201, required: []string{"name", "scopes"},
		id: "createAPIKey", tag: tagKeys, summary: "Create an API key",
		about: "No key makes a stronger one: it has scopes of the key that makes it, no higher limit, lives no longer, and is used from nowhere else. The answer holds its text, which is never shown again.",
	}, a.createKey)
	register(a, route{
		method: remove, path: "/api-keys/{id}", needs: gateway.PermKeys, status: 204,
		id: "deleteAPIKey", tag: tagKeys, summary: "Revoke an API key",
		about: "It is refused from now on, also if it is the key of this call, and invitations that it made are revoked. It stays in the list, with its end.",
	}, a.deleteKey)
}

func (a *API) listKeys(ctx context.Context, who caller, in *PageQuery) (*listReply[KeyView], error) {
	p, err := page[gateway.KeyID](keyList, *in, TimeQuery{})
	if err != nil {
		return nil, err
	}
	keys, err := a.Accounts.Keys(ctx, who.account(), p)
	if err != nil {
		return nil, err
	}
	return reply(keyList, *in, keys, func(k gateway.APIKey) []byte { return idCursor(k.ID) }, viewKey), nil
}

func (a *API) createKey(ctx context.Context, who caller, _ *nothing, body newKeyBody) (*objectReply[newKeyView], error) {
	n, err := body.input(who)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == problem.ScopeMissing {
		err = cmp.Or(a.Accounts.Refuse(ctx, account.Refused{Account: who.account(), Actor: who.actor(), Method: post, What: Prefix + "/api-keys"}), err)
	}
	if err != nil {
		return nil, err
	}
	made, text, err := a.Accounts.CreateKey(ctx, who.account(), who.actor(), n)
	return object(made, err, func(k gateway.APIKey) newKeyView { return newKeyView{viewKey(k), text} })
}

// input is what the use case takes. It is no more than the caller's own key
// may do.
func (b newKeyBody) input(who caller) (account.NewKey, error) {
	n := account.NewKey{EventsPerSecond: b.EventsPerSecond, Networks: b.AllowedIPs}
	if b.Name != nil {
		n.Name = *b.Name
	}
	for _, scope := range b.Scopes {
		n.Scopes = append(n.Scopes, gateway.Scope(scope))
	}
	if b.EndsAt != nil {
		at, err := parseMoment(*b.EndsAt)
		if err != nil {
			return n, problem.At("body.ends_at", "%s", err)
		}
		n.EndsAt = &at
	}
	return n, who.mayMake(&n)
}

// mayMake tells whether the caller's key may make such a key: no key makes a
// stronger one. A key without a limit, an end or networks of its own gets
// the caller's.
func (c caller) mayMake(n *account.NewKey) error {
	for _, scope := range n.Scopes {
		if slices.Contains(gateway.Scopes, scope) && !c.has(scope) {
			return problem.New(problem.ScopeMissing, fmt.Sprintf("No key makes a stronger one: this one lacks the scope %s.", scope))
		}
	}
	limit := c.key.EventsPerSecond
	switch {
	case limit == nil:
	case n.EventsPerSecond == nil:
		n.EventsPerSecond = limit
	case *n.EventsPerSecond > *limit:
		return problem.At("body.events_per_second", "want at most %d, which is the limit of the key that makes it", *limit)
	}
	end := c.key.EndsAt
	switch {
	case end == nil:
	case n.EndsAt == nil:
		n.EndsAt = end
	case n.EndsAt.After(*end):
		return problem.At("body.ends_at", "want no time after %s, when the key that makes it ends", end.UTC().Format(time.RFC3339))
	}
	return c.mayMakeFrom(n)
}

// mayMakeFrom is mayMake for where the key may be used from.
func (c caller) mayMakeFrom(n *account.NewKey) error {
	switch own := c.key.Networks; {
	case own == nil:
	case len(n.Networks) == 0:
		n.Networks = gateway.NetworkTexts(own)
	default:
		for _, text := range n.Networks {
			p, err := gateway.ParseNetwork(text)
			inside := slices.ContainsFunc(own, func(outer netip.Prefix) bool { return gateway.Within(outer, p) })
			if err == nil && !inside { // what cannot be read the use case refuses
				return problem.At("body.allowed_ips", "want only what the key that makes it may be used from: %s", strings.Join(gateway.NetworkTexts(own), ", "))
			}
		}
	}
	return nil
}

// keyPath is the path of an operation on one API key.
type keyPath struct {
	ID string `path:"id" doc:"The API key's id."`
}

func (a *API) deleteKey(ctx context.Context, who caller, in *keyPath) (*empty, error) {
	id, err := pathID[gateway.KeyID](in.ID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.Accounts.EndKey(ctx, who.account(), who.actor(), id)
}
