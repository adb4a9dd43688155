package listener

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/client"
)

// printOrder prints the line of an order: when, what, which, and how it went.
func (l *Listener) printOrder(o client.Order, r client.Report, note string) {
	went := strconv.Itoa(r.StatusCode)
	if r.StatusCode == 0 {
		went = r.ErrorKind
	}
	parts := []string{
		time.Now().Format("15:04:05"), visible(o.EventType), visible(o.DeliveryID), visible(went),
		time.Duration(r.DurationMS * float64(time.Millisecond)).Round(time.Millisecond).String(),
	}
	if o.Number > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", o.Number))
	}
	if note != "" {
		parts = append(parts, note)
	}
	if r.StatusCode == 0 {
		parts = append(parts, visible(r.Detail))
	}
	l.print.Lock()
	defer l.print.Unlock()
	_, _ = fmt.Fprintln(l.Out, strings.Join(parts, "  ")) // nothing depends on it
}

// note prints what became of the connection; nothing is no news.
func (l *Listener) note(text string) {
	if text == "" {
		return
	}
	l.print.Lock()
	defer l.print.Unlock()
	_, _ = fmt.Fprintln(l.Notes, text) // nothing depends on it
}

// visible spells out what a terminal would obey instead of show.
func visible(text string) string {
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
