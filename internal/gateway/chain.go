package gateway

import (
	"net/url"
	"strings"
)

// ChainLink is one of the endpoints that would come after an endpoint, in their
// order.
type ChainLink struct {
	ID   EndpointID
	Name string
	// Behind is how many come before the first of the links, the endpoint
	// itself included.
	Behind int
}

// CheckChain judges what would come after an endpoint. InvalidError says why it
// cannot be: there is nothing, a loop, or more than MaxFailoverDepth.
func CheckChain(links []ChainLink, id EndpointID) error {
	if len(links) == 0 {
		return Invalid("failover", "names no endpoint of this account")
	}
	names := make([]string, len(links))
	for i, l := range links {
		names[i] = l.Name
	}
	if last := links[len(links)-1]; last.ID == id {
		return Invalid("failover", "would make a loop: %s → %s", last.Name, strings.Join(names, " → "))
	}
	if n := links[0].Behind + len(links); n > MaxFailoverDepth {
		return Invalid("failover", "would make a chain of more than %d endpoints", MaxFailoverDepth)
	}
	return nil
}

// maxChainName is how much of a name is told, in characters.
const maxChainName = 40

// ChainName is what people call an endpoint, short: its description, or uid, or
// where it is.
func ChainName(uid *string, description, address string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	switch {
	case name != "":
	case uid != nil:
		name = *uid
	default:
		if u, err := url.Parse(address); err == nil {
			name = u.Host + u.Path
		}
	}
	if runes := []rune(name); len(runes) > maxChainName {
		name = string(runes[:maxChainName]) + "…"
	}
	return name
}
