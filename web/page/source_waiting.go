package page

import "github.com/rowlock/rowlock/internal/gateway"

// greeted tells that nothing but handshakes came so far: all is well.
func (v Source) greeted() bool {
	for _, r := range v.Requests {
		if r.Cause != gateway.CauseHandshake {
			return false
		}
	}
	return len(v.Requests) > 0
}
