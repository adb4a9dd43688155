package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/rowlock/rowlock/internal/server/api"
)

// named is the part of the API whose objects are called by names, in which
// there can be slashes.
const named = api.Prefix + "/event-types/"

// withWholeName has the router take what follows as one name, whether its
// slashes came as they are or escaped.
func withWholeName(r *http.Request) *http.Request {
	name, ok := strings.CutPrefix(r.URL.Path, named)
	if !ok || name == "" {
		return r
	}
	address := *r.URL
	address.RawPath = named + url.PathEscape(name)
	r = r.WithContext(r.Context())
	r.URL = &address
	return r
}
