package gateway

import (
	"context"
	"strings"
	"unicode"
)

// maxAgent is how much of a client's name is kept, in bytes.
const maxAgent = 300

// Origin is where a request came from, for the audit log.
type Origin struct {
	// Address is the client's IP address, and Agent what it calls itself; both
	// are empty where Rowlock does something by itself.
	Address, Agent string
}

// NewOrigin makes an Origin of what a client says of itself.
func NewOrigin(address, agent string) Origin {
	return Origin{Address: VisibleText(address), Agent: VisibleText(agent)}
}

// VisibleText keeps what a client says of itself, as far as it can be stored
// and shown.
func VisibleText(text string) string {
	text = strings.ToValidUTF8(text, "")
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), maxAgent)], "")
}

type originKey struct{}

// WithOrigin notes in a request's context where it came from. It is told by the
// audit log alone and decides nothing, but that an API key with an allow-list is
// refused where it is not known.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf is where a request came from; zero where none did.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
