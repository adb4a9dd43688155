package api

import "github.com/rowlock/rowlock/internal/gateway"

// AuthView tells what is sent in the Authorization header, without its words.
type AuthView struct {
	Type string `json:"type" enum:"basic,bearer"`
}

// viewAuth is nil for nothing.
func viewAuth(kind gateway.AuthKind) *AuthView {
	if kind == gateway.AuthNone {
		return nil
	}
	return &AuthView{Type: string(kind)}
}
