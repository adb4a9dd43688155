package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// caller is who calls: an API key and, through it, an account.
type caller struct{ key gateway.APIKey }

func (c caller) account() gateway.AccountID { return c.key.AccountID }

// actor is the caller's name in the audit log.
func (c caller) actor() gateway.Actor { return gateway.Actor(c.key.ID.String()) }

// has tells whether the caller's key has a scope.
func (c caller) has(scope gateway.Scope) bool { return slices.Contains(c.key.Scopes, scope) }

// may tells whether the caller's key has a permission.
func (c caller) may(p gateway.Permission) bool { return c.key.May(p) }

// call is an operation under way.
type call struct {
	caller

	request *http.Request
	// writer is where the answer goes; what reads a long body gives it more time.
	writer http.ResponseWriter
}

type callKey struct{}

// callOf returns the operation under way. add is its only user: what comes
// after gets caller and request as arguments.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// authenticate lets a request pass whose key is good and has the permission.
func (a *API) authenticate(r route) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		request, writer := humaecho.Unwrap(hc).Request(), humaecho.Unwrap(hc).Response()
		key, err := a.findKey(hc.Context(), request.Header)
		if err != nil {
			a.write(hc, err)
			return
		}
		who := caller{key}
		if !who.may(r.needs) {
			a.write(hc, a.refuse(hc.Context(), who, r, hc.Param("id")))
			return
		}
		if key.Closing && !r.needs.WhileClosing() {
			a.write(hc, problem.New(problem.AccountClosing, ""))
			return
		}
		next(huma.WithValue(hc, callKey{}, &call{who, request, writer}))
	}
}

// refuse says that the caller's key lacks the scope of a route.
func (a *API) refuse(ctx context.Context, who caller, r route, object string) error {
	ctx, cancel := context.WithTimeout(ctx, defaultDeadline)
	defer cancel()
	err := a.Accounts.Refuse(ctx, account.Refused{
		Account: who.account(), Actor: who.actor(), Method: r.method, What: Prefix + r.path, Object: object,
	})
	if err != nil {
		return err
	}
	return problem.New(problem.ScopeMissing, fmt.Sprintf("This operation needs the scope %s.", r.needs.Scope()))
}

// findKey looks the request's key up. A missing, malformed or unknown one is
// problem.Unauthorized, all alike; so is one that has ended, which says so.
func (a *API) findKey(ctx context.Context, header http.Header) (gateway.APIKey, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultDeadline)
	defer cancel()
	text, ok := bearer(header)
	if !ok {
		return gateway.APIKey{}, problem.FromStatus(http.StatusUnauthorized)
	}
	key, err := a.Accounts.Authenticate(ctx, text)
	switch {
	case errors.Is(err, account.ErrKeyEnded):
		return gateway.APIKey{}, keyEnded(*key.EndsAt)
	case errors.Is(err, gateway.ErrNotFound):
		return gateway.APIKey{}, problem.FromStatus(http.StatusUnauthorized)
	case errors.Is(err, account.ErrKeyNetwork):
		return gateway.APIKey{}, problem.New(problem.AddressNotAllowed, "This API key may not be used from "+addressOf(ctx)+".")
	case err != nil:
		return gateway.APIKey{}, fmt.Errorf("authenticate: %w", err)
	}
	return key, nil
}

// keyEnded says to who has the whole text of a key why it is refused.
func keyEnded(at time.Time) error {
	return problem.New(problem.Unauthorized, "This API key expired or was revoked at "+at.UTC().Format(time.RFC3339)+". Use another one.").
		With("WWW-Authenticate", "Bearer")
}

// addressOf is where the caller calls from, in words.
func addressOf(ctx context.Context) string {
	return cmp.Or(gateway.OriginOf(ctx).Address, "an address that is not known")
}

// bearer returns the token of the one Authorization header.
func bearer(header http.Header) (string, bool) {
	values := header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}
