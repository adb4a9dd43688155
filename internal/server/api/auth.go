package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

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
			a.write(hc, a.refuse(hc.Context(), who, r))
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
func (a *API) refuse(ctx context.Context, who caller, r route) error {
	ctx, cancel := context.WithTimeout(ctx, defaultDeadline)
	defer cancel()
	err := a.Accounts.Refuse(ctx, account.Refused{
		Account: who.account(), Actor: who.actor(), Needs: r.needs, Method: r.method, What: Prefix + r.path,
	})
	if err != nil {
		return err
	}
	return problem.New(problem.ScopeMissing, fmt.Sprintf("This operation needs the scope %s.", r.needs.Scope()))
}

// findKey looks the request's key up. A missing, malformed or unknown one is
// problem.Unauthorized, all alike.
func (a *API) findKey(ctx context.Context, header http.Header) (gateway.APIKey, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultDeadline)
	defer cancel()
	text, ok := bearer(header)
	if !ok {
		return gateway.APIKey{}, problem.FromStatus(http.StatusUnauthorized)
	}
	key, err := a.Accounts.Authenticate(ctx, text)
	if errors.Is(err, gateway.ErrNotFound) {
		return gateway.APIKey{}, problem.FromStatus(http.StatusUnauthorized)
	}
	if err != nil {
		return gateway.APIKey{}, fmt.Errorf("authenticate: %w", err)
	}
	return key, nil
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
