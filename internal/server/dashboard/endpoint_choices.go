package dashboard

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// lines is a field of several lines, with the space around it cut off; browsers
// end lines as networks do.
func (f form) lines(name string) string { return strings.ReplaceAll(f.text(name), "\r\n", "\n") }

// rateLimit is how many requests may begin within a second; zero is no limit. A
// zero that was entered is none.
func (f form) rateLimit() *int {
	most := 0
	if text := f.text(page.EndpointRateLimit); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil || most < 1 {
			most = 0
			f.wrong(page.EndpointRateLimit, fmt.Sprintf("Write a number from 1 to %d, or nothing for no limit.", gateway.MaxRatePerSecond))
		}
	}
	return &most
}

// failover is who takes over; zero is nobody.
func (f form) failover() *gateway.EndpointID {
	var id gateway.EndpointID
	if text := f.text(page.EndpointFailover); text != "" {
		var err error
		if id, err = gateway.ParseID[gateway.EndpointID](text); err != nil {
			f.wrong(page.EndpointFailover, "Choose one of the account’s endpoints.")
		}
	}
	return &id
}

// signature is how deliveries are signed; v1 where nothing was chosen.
func (f form) signature() *gateway.SignatureVersion {
	version := gateway.SignatureVersion(f.text(page.EndpointSignature))
	switch version {
	case "":
		version = gateway.SignatureHMAC
	case gateway.SignatureHMAC, gateway.SignatureEd25519:
	default:
		f.wrong(page.EndpointSignature, "Choose one of the two.")
		version = gateway.SignatureHMAC
	}
	return &version
}

// auth is what is sent in the Authorization header; nil keeps what is stored,
// which is the meaning of its kind without its words.
func (f form) auth(stored gateway.AuthKind) *endpoint.Auth {
	var auth endpoint.Auth
	switch chosen := f.text(page.EndpointAuth); chosen {
	case "", page.EndpointNoAuth:
		return &auth
	case string(gateway.AuthBasic):
		auth = endpoint.Auth{Type: gateway.AuthBasic, Username: f.text(page.EndpointAuthUsername), Password: f.raw(page.EndpointAuthPassword)}
	case string(gateway.AuthBearer):
		auth = endpoint.Auth{Type: gateway.AuthBearer, Token: f.text(page.EndpointAuthToken)}
	default:
		f.wrong(page.EndpointAuth, "Choose one of the three.")
		return &auth
	}
	if auth.Type != stored {
		return &auth
	}
	return f.replaced(auth)
}

// replaced is nil for words that were left empty: those that are stored stay. Of
// user name and password, one alone would be half of each.
func (f form) replaced(auth endpoint.Auth) *endpoint.Auth {
	const both = "Enter both: user name and password are kept together."
	switch {
	case auth.Username == "" && auth.Password == "" && auth.Token == "":
		return nil
	case auth.Type == gateway.AuthBasic && auth.Password == "":
		f.wrong(page.EndpointAuthPassword, both)
	case auth.Type == gateway.AuthBasic && auth.Username == "":
		f.wrong(page.EndpointAuthUsername, both)
	}
	return &auth
}
