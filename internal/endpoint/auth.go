package endpoint

import (
	"net/http"

	"github.com/rowlock/rowlock/internal/gateway"
)

// authHeader is where Auth is sent.
const authHeader = "Authorization"

// Auth is what an endpoint asks for at its door: a user name and a password
// (basic), a token (bearer), or nothing at all.
type Auth struct {
	Type                      gateway.AuthKind
	Username, Password, Token string
}

// sent is what is sent. Words that do not belong to the type are refused, and
// no error repeats any.
func (a Auth) sent() (gateway.Auth, error) {
	switch {
	case a.Type == gateway.AuthBasic && a.Token != "":
		return gateway.Auth{}, gateway.Invalid("auth.token", "belongs to the type bearer")
	case a.Type == gateway.AuthBearer && a.Username != "":
		return gateway.Auth{}, gateway.Invalid("auth.username", "belongs to the type basic")
	case a.Type == gateway.AuthBearer && a.Password != "":
		return gateway.Auth{}, gateway.Invalid("auth.password", "belongs to the type basic")
	}
	switch a.Type {
	case gateway.AuthNone:
		return gateway.Auth{}, nil
	case gateway.AuthBasic:
		return gateway.NewBasicAuth(a.Username, a.Password)
	case gateway.AuthBearer:
		return gateway.NewBearerAuth(a.Token)
	default:
		return gateway.Auth{}, gateway.Invalid("auth.type", "want basic or bearer")
	}
}

// applyAuth writes the kind alone: the words are sealed apart.
func (in Input) applyAuth(e *gateway.Endpoint) error {
	if in.Auth == nil {
		return nil
	}
	auth, err := in.Auth.sent()
	if err == nil {
		e.Auth = auth.Kind
	}
	return err
}

// checkAuthorization refuses a header of the endpoint's own that is sent for
// its Auth too; of the two, the one that is given is told.
func (in Input) checkAuthorization(e *gateway.Endpoint) error {
	if e.Auth == gateway.AuthNone || gateway.DecodeHeaders(e.Headers)[authHeader] == nil {
		return nil
	}
	if in.Auth != nil {
		return gateway.Invalid("auth", "is sent as the header Authorization, which is among the endpoint's headers: keep one of the two")
	}
	return gateway.Invalid("headers."+in.nameOf(authHeader), "cannot be set beside auth, which is sent as this header")
}

// nameOf is a header's name as the caller wrote it.
func (in Input) nameOf(canonical string) string {
	if in.Headers != nil {
		for name := range *in.Headers {
			if http.CanonicalHeaderKey(name) == canonical {
				return name
			}
		}
	}
	return canonical
}
