package configuration

import (
	"context"
	"errors"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// nameOf is by what a document knows an object: its uid, or else its id, with a
// hyphen in it so that it can be a uid. Where the object was made it is found by
// this again, and elsewhere it gets it as its uid.
func nameOf(uid *string, id string) string {
	if uid != nil {
		return *uid
	}
	return strings.Replace(id, "_", "-", 1)
}

// idOf is the id that a name was made of; false where it was made of none.
func idOf[I gateway.AnyID](name string) (I, bool) {
	id, err := gateway.ParseID[I](strings.Replace(name, "-", "_", 1))
	return id, err == nil && !strings.Contains(name, "_")
}

// find looks an object up by its uid, and else by the id that its name was made
// of. Own tells the latter. Errors: gateway.ErrNotFound.
func find[I gateway.AnyID, T any](ctx context.Context, account gateway.AccountID, name string,
	byUID func(context.Context, gateway.AccountID, string) (T, error),
	byID func(context.Context, gateway.AccountID, I) (T, error),
) (found T, own bool, err error) {
	found, err = byUID(ctx, account, name)
	if id, ok := idOf[I](name); ok && errors.Is(err, gateway.ErrNotFound) {
		found, err = byID(ctx, account, id)
		return found, true, err
	}
	return found, false, err
}
