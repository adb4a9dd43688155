package endpoint

import (
	"net/http"
	"slices"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// maxHeaders is how many headers an endpoint may have of its own.
	maxHeaders = 32
	// maxHeaderBytes bounds their names and values together: servers commonly
	// refuse more than this in all.
	maxHeaderBytes = 8 << 10
)

// Headers that an endpoint cannot set, by their canonical names: those of one
// connection, those that HTTP makes of the request itself, and those that tell
// what is delivered and by whom.
var (
	refusedHeaders = []string{
		"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Host", "Http2-Settings", "Expect", "Content-Length", "Content-Encoding", "Content-Type",
		"Accept-Encoding", "User-Agent", "Idempotency-Key",
	}
	refusedPrefixes = []string{"Proxy-", "Webhook-", "Rowlock-"}
)

func (in Input) applyHeaders(e *gateway.Endpoint) error {
	if in.Headers == nil {
		return nil
	}
	headers, err := checkHeaders(*in.Headers)
	if err != nil {
		return err
	}
	e.Headers = gateway.EncodeHeaders(headers)
	return nil
}

// checkHeaders returns the headers under their canonical names. The error
// names a header, by its field, only after its name was found to be one, and
// never its value.
func checkHeaders(given map[string]string) (http.Header, error) {
	if len(given) > maxHeaders {
		return nil, gateway.Invalid("headers", "want at most %d", maxHeaders)
	}
	headers := make(http.Header, len(given))
	size := 0
	for given, value := range given {
		name, err := checkHeader(given, value)
		if err != nil {
			return nil, err
		}
		if _, twice := headers[name]; twice {
			return nil, gateway.Invalid("headers."+given, "is given twice: names are the same in capitals and small letters")
		}
		headers[name] = []string{value}
		size += len(name) + len(value)
	}
	if size > maxHeaderBytes {
		return nil, gateway.Invalid("headers", "want at most %d bytes of names and values", maxHeaderBytes)
	}
	return headers, nil
}

// CheckHeader tells what is wrong with one header of an endpoint's own, as
// Create and Update would, for forms that tell it beside the header.
func CheckHeader(name, value string) error {
	_, err := checkHeader(name, value)
	return err
}

func checkHeader(given, value string) (name string, err error) {
	if given == "" || strings.ContainsFunc(given, isNoToken) {
		return "", gateway.Invalid("headers", "a name is not one that HTTP allows")
	}
	name = http.CanonicalHeaderKey(given)
	hasPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	switch {
	case len(name) > maxHeaderBytes:
		return "", gateway.Invalid("headers", "want at most %d bytes of names and values", maxHeaderBytes)
	case slices.Contains(refusedHeaders, name), slices.ContainsFunc(refusedPrefixes, hasPrefix):
		return "", gateway.Invalid("headers."+given, "cannot be set")
	case hasControl(value):
		return "", gateway.Invalid("headers."+given, "the value holds a line break or another control character")
	}
	return name, nil
}

// isNoToken tells characters that a token of HTTP (RFC 9110) does not have.
func isNoToken(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// hasControl looks at bytes, as HTTP does. It allows the tab.
func hasControl(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}
