package page

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// SignatureText says in words how an endpoint's requests are signed.
func SignatureText(version gateway.SignatureVersion) string {
	if version == gateway.SignatureEd25519 {
		return "Key pair (v1a, Ed25519)"
	}
	return "Shared secret (v1, HMAC-SHA256)"
}

// AuthText says in words what is sent in the Authorization header; empty for
// nothing.
func AuthText(kind gateway.AuthKind) string {
	switch kind {
	case gateway.AuthBasic:
		return "User name and password (basic)"
	case gateway.AuthBearer:
		return "Token (bearer)"
	default:
		return ""
	}
}

// RateText says in words how many requests begin within a second.
func RateText(perSecond int) string {
	if perSecond == 0 {
		return "no limit"
	}
	return "at most " + component.Number(perSecond) + " a second"
}
