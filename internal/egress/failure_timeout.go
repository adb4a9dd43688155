package egress

import (
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// gaveUp says what was missing when the time was up.
func (f failure) gaveUp() cause {
	stage, _ := f.trace.progress()
	c := cause{gateway.ErrorTimeout, "No answer in " + span(f.timeout) + ". ", ""}
	switch stage {
	case stageDNS:
		c.happened += "The look-up of " + f.host + " did not end."
		c.todo = checkNameServers
	case stageConnect:
		c.happened += f.at() + " accepted no connection."
		c.todo = checkFirewall
	case stageTLS:
		c.happened += f.at() + " did not finish the TLS handshake."
		c.todo = "Check that this port serves https."
	case stageWrite:
		c.happened += f.at() + " took only a part of the request."
		c.todo = "Have the receiver read the whole body at once, or raise the timeout."
	case stageWait:
		c.happened += "Rowlock connected to " + f.at() + " and then waited."
		c.todo = "Raise the timeout, or answer before doing the work."
	case stageRead:
		c.happened = "No complete answer in " + span(f.timeout) + " from " + f.at() + "."
		c.todo = "Send the whole answer at once, or raise the timeout."
	}
	return c
}

// span is a length of time for people: "300 ms", "15 s", "1m30s".
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute && d%time.Second == 0:
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return d.String()
}
