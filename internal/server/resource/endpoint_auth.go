package resource

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
)

// AuthBody is what to send in the Authorization header: a user name and a
// password, or a token.
type AuthBody struct {
	Type     string `json:"type"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	Token    string `json:"token,omitempty"`
}

var _ huma.SchemaProvider = AuthBody{}

// Schema describes it in place: a named object could not be null.
func (AuthBody) Schema(huma.Registry) *huma.Schema {
	word := func(doc string) *huma.Schema {
		most := gateway.MaxAuthLength
		return &huma.Schema{Type: huma.TypeString, MaxLength: &most, WriteOnly: true, Description: doc}
	}
	s := &huma.Schema{
		Type: huma.TypeObject, Required: []string{"type"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"type":     {Type: huma.TypeString, Enum: []any{string(gateway.AuthBasic), string(gateway.AuthBearer)}},
			"username": word("Of the type basic. Without a colon; it can be empty where there is a password."),
			"password": word("Of the type basic. It can be empty where there is a user name."),
			"token":    word("Of the type bearer: visible ASCII."),
		},
		Examples: []any{map[string]any{"type": string(gateway.AuthBasic), "username": "rowlock", "password": "correct horse"}},
	}
	s.PrecomputeMessages()
	return s
}

// auth is what the use case takes: nil when the body does not say, nothing at
// all for null.
func (b EndpointBody) auth() (*endpoint.Auth, error) {
	auth := given(b.Auth, AuthBody{})
	switch {
	case auth == nil:
		return nil, nil
	case !b.Auth.Null && auth.Type == "":
		return nil, gateway.Invalid("auth.type", "want basic or bearer")
	}
	return &endpoint.Auth{
		Type: gateway.AuthKind(auth.Type), Username: auth.Username, Password: auth.Password, Token: auth.Token,
	}, nil
}
