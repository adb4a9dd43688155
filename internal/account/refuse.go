package account

import (
	"context"
	"net/http"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Refused is something that somebody tried and may not do.
type Refused struct {
	Account gateway.AccountID
	// Actor is the member or the key that tried.
	Actor gateway.Actor
	// Needs is the permission that they lack.
	Needs gateway.Permission
	// Method and What are the request's method, and its route within the account
	// or the API.
	Method, What string
}

// changes tells that it would have changed something.
func (r Refused) changes() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// Refuse is where every refusal for want of a permission passes, of pages and of
// the API. What would have changed something is noted in the audit log.
func (s *Service) Refuse(ctx context.Context, r Refused) error {
	if !r.changes() {
		return nil
	}
	what := r.What
	if r.Method != http.MethodPost {
		what = strings.ToLower(r.Method) + " " + what
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		return s.audit(ctx, tx, r.Account, r.Actor, "account.refuse", r.Account.String(), what)
	})
}
