package dashboard

import (
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// operationNames say what each kind of operation does.
var operationNames = map[gateway.OperationKind]string{
	gateway.OperationRecoverFailed:  "Recover failed deliveries",
	gateway.OperationRecoverMissing: "Create missing deliveries",
	gateway.OperationRedeliver:      "Redeliver",
	gateway.OperationReprocess:      "Process events again",
	gateway.OperationReconcile:      "Redeliver what a partner is missing",
}

func operationName(o gateway.Operation) string {
	name := operationNames[o.Kind]
	if o.Kind == gateway.OperationRedeliver && len(o.Filter.Deliveries) > 0 {
		name += " " + component.Plural(len(o.Filter.Deliveries), "delivery", "deliveries")
	}
	if o.DryRun {
		return "Count: " + operationWords(string(o.Kind))
	}
	return name
}

// shownValue is how much of a value a sentence shows, in characters.
const shownValue = 60

// operationWords say what an operation of a kind does, within a sentence.
func operationWords(kind string) string {
	name, ok := operationNames[gateway.OperationKind(kind)]
	if !ok {
		return "a bulk operation"
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// aboutOperation says what an operation is about, but for what its name says.
func aboutOperation(o gateway.Operation, endpoint string, now time.Time) string {
	if o.Kind == gateway.OperationRecoverFailed {
		o.Filter.Status = ""
	}
	return aboutFilter(o.Filter, endpoint, now)
}

// aboutFilter says what an operation is about, in words. endpoint is what its
// endpoint is called.
func aboutFilter(f gateway.OperationFilter, endpoint string, now time.Time) string {
	var parts []string
	add := func(when bool, part string) {
		if when {
			parts = append(parts, part)
		}
	}
	add(endpoint != "", "to "+endpoint)
	add(f.Reconciliation != nil, "missing at the partner")
	add(f.Event != nil, "of one event")
	add(f.Status != "", strings.ToLower(component.Word(f.Status)))
	add(f.EventStatus != "", "in the state “"+component.Word(f.EventStatus)+"”")
	add(f.Outcome != "", "last "+strings.ToLower(component.Word(f.Outcome)))
	if cause := f.Cause(); cause != nil {
		parts = append(parts, "because of "+page.CauseName(*cause))
	}
	add(len(f.Deliveries) > 0, "chosen one by one")
	add(len(f.Events) > 0, "of "+component.Plural(len(f.Events), "event", "events"))
	add(f.Type != "", "of the type "+f.Type)
	add(f.Subject != "", "about "+component.Shorten(f.Subject, shownValue))
	add(f.Search != "", "with "+component.Shorten(f.Search, shownValue))
	add(f.Source != nil, "from one source")
	add(!sinceAll(f.Since), "of events since "+page.ClockText(f.Since, now))
	add(!f.Until.IsZero(), "before "+page.ClockText(f.Until, now))
	if len(parts) == 0 {
		return "All that are closed."
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
