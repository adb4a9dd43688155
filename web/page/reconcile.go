package page

import (
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Reconciliations is the list of comparisons, newest first.
type Reconciliations struct {
	layout.Frame

	Now           time.Time
	Rows          []ReconciliationRow
	Newest, Older string
	// New is the form of a new one; empty for who may make none.
	New string
}

// open tells that one of them goes on.
func (v Reconciliations) open() bool {
	for _, row := range v.Rows {
		if row.State.IsOpen() {
			return true
		}
	}
	return false
}

// ReconciliationRow is a comparison as a line of a list.
type ReconciliationRow struct {
	gateway.Reconciliation

	Href string
	// Endpoint is what its endpoint is called, Who who made it.
	Endpoint, Who string
}

// Called is what it is called.
func (r ReconciliationRow) Called() string {
	if r.Name != "" {
		return r.Name
	}
	return "List of " + r.Endpoint
}

// number is one of what was found; nothing was, as long as the list is read.
func (r ReconciliationRow) number(n int) string {
	if r.UploadedAt == nil {
		return "–"
	}
	return component.Number(n)
}

// about says what was compared.
func (r ReconciliationRow) about(now time.Time) string {
	return r.Endpoint + ", " + ClockText(r.Since, now) + " to " + ClockText(r.Until, now)
}

// live marks a part that the page's script reads anew.
func (r ReconciliationRow) live() templ.Attributes {
	if !r.State.IsOpen() {
		return nil
	}
	return templ.Attributes{"data-live-refresh": "operation"}
}

// reconciliationBadge is the state's name among badges.
func reconciliationBadge(state gateway.ReconciliationState) string {
	if state == gateway.ReconciliationCancelled {
		return "stopped"
	}
	return string(state)
}

// Reconciliation is the page of one comparison.
type Reconciliation struct {
	layout.Frame
	ReconciliationRow

	Now     time.Time
	Manages bool
	// List is where all are. New, Redeliver, Stop and Delete lead to what can be
	// done, Report to what was found.
	List, New, Redeliver, Stop, Delete, Report string
	// EndpointHref is empty for one that was deleted.
	EndpointHref string
	// KeptFrom is from when on events were still kept when it was made.
	KeptFrom time.Time
	// Tabs are the kinds of what was found, Shown the current one.
	Tabs  []component.Choice
	Shown gateway.RowResult
	// Reasons narrow what is missing.
	Reasons []component.Choice
	Missing []MissingRow
	Rows    []PartnerRow
	Faulty  []gateway.FaultyRow
	// Newest and Older lead through the list.
	Newest, Older string
}

// MissingRow is an event that the partner does not list.
type MissingRow struct {
	gateway.MissingRow

	// Event and Delivery are their pages; Delivery is empty where there is none.
	Event, Delivery string
}

// PartnerRow is a row of the partner's list.
type PartnerRow struct {
	gateway.PartnerRow

	// Event and Delivery are their pages, each empty where there is none.
	Event, Delivery string
}

// lede says what was compared, as a sentence.
func (v Reconciliation) lede() string {
	text := component.Plural(v.Reconciliation.Rows, "row", "rows")
	compared := "compared"
	if v.State == gateway.ReconciliationFailed || v.State == gateway.ReconciliationUploading {
		compared = "to be compared"
	}
	return text + " by " + matchWord(v.MatchBy, v.WithType) + " · " + compared + " with what was to go to " + v.Endpoint +
		" from " + ClockText(v.Since, v.Now) + " to " + ClockText(v.Until, v.Now)
}

// matchWord is by what lists are compared, in words.
func matchWord(by gateway.MatchBy, typed bool) string {
	word := "subject"
	switch by {
	case gateway.MatchByEvent:
		word = "event id"
	case gateway.MatchByKey:
		word = "idempotency key"
	case gateway.MatchBySubject:
	}
	if typed {
		word += " and type"
	}
	return word
}

// progress says how far it got.
func (v Reconciliation) progress() string {
	r := v.Reconciliation
	switch r.State {
	case gateway.ReconciliationUploading:
		return "Reading the list: " + component.Plural(r.Rows, "row", "rows") + " so far."
	case gateway.ReconciliationComparing:
		return "Comparing: " + component.Plural(r.Ours, "event", "events") + " and " + component.Plural(v.judged(), "row", "rows") + " so far."
	case gateway.ReconciliationCancelled:
		return "Stopped before its end: the numbers tell of a part."
	case gateway.ReconciliationFailed:
		return "The list could not be read."
	case gateway.ReconciliationDone:
	}
	if r.Missing+r.Unknown+r.Repeated+r.Faulty == 0 {
		return "Nothing differs: the partner has all that was to go there, once."
	}
	return "Compared in " + component.Duration(v.took()) + "."
}

// took is how long comparing took.
func (v Reconciliation) took() time.Duration {
	if v.UploadedAt == nil || v.FinishedAt == nil {
		return 0
	}
	return max(v.FinishedAt.Sub(*v.UploadedAt), 0)
}

// judged is how many of the partner's rows were compared.
func (v Reconciliation) judged() int {
	r := v.Reconciliation
	return r.Matched + r.Unknown + r.Repeated
}

// compared tells that there is something to show.
func (v Reconciliation) compared() bool {
	return v.State == gateway.ReconciliationDone || v.judged() > 0 || v.Reconciliation.Missing > 0
}

// matchedNote says how much of the list is matched.
func (v Reconciliation) matchedNote() string {
	if v.judged() == 0 {
		return "of their list"
	}
	const percent = 100
	share := float64(v.Matched) / float64(v.judged()) * percent
	return strconv.FormatFloat(floor(share), 'f', -1, 64) + "% of their list"
}

// floor cuts a percentage to two digits, so that 100 is all of them.
func floor(share float64) float64 { return float64(int(share*100)) / 100 }

// numberTone colours a number that should be zero.
func numberTone(n int) component.Tone {
	if n > 0 {
		return component.ToneBad
	}
	return component.ToneOK
}

// notes say what the numbers do not.
func (v Reconciliation) notes() []string {
	var lines []string
	r := v.Reconciliation
	if r.Since.Before(v.KeptFrom) {
		lines = append(lines, "Events from before "+ClockText(v.KeptFrom, v.Now)+" were not kept any more: what the partner lists of them is unknown here.")
	}
	if r.Unnamed > 0 {
		lines = append(lines, component.Plural(r.Unnamed, "event of ours has", "events of ours have")+" no "+matchWord(r.MatchBy, false)+" by which a partner could list them, and were not compared.")
	}
	if r.Faulty > 0 {
		lines = append(lines, component.Plural(r.Faulty, "row of the list", "rows of the list")+" could not be read.")
	}
	if rest := r.Missing - r.Sendable; r.State == gateway.ReconciliationDone && rest > 0 && r.Sendable > 0 {
		lines = append(lines, component.Number(rest)+" of the missing cannot be sent with the others: they are still open, not decided yet, gone to the failover endpoint, confirmed as done, or without a payload.")
	}
	return lines
}

// redeliverLabel is the button's, with the number.
func (v Reconciliation) redeliverLabel() string {
	return "Redeliver " + component.Number(v.Sendable) + " missing…"
}

// reasonWords say why something is missing, or what there is to say of a row.
var reasonWords = map[gateway.RowReason]string{
	gateway.ReasonNeverCreated:  "The endpoint asks for it, and no delivery was made.",
	gateway.ReasonFailed:        "Its attempts are used up.",
	gateway.ReasonFailedOver:    "It failed here, and went to the failover endpoint instead.",
	gateway.ReasonSuppressed:    "The fact was confirmed by another event.",
	gateway.ReasonOpen:          "It is on its way, or waits for its next attempt.",
	gateway.ReasonHeld:          "It waits: the endpoint is not active.",
	gateway.ReasonCancelled:     "It was cancelled before it was confirmed.",
	gateway.ReasonExpired:       "Its retention ended before it could be sent.",
	gateway.ReasonDelivered:     "The endpoint confirmed it. Ask the partner what became of it there.",
	gateway.ReasonOutside:       "It came in outside of the time that was compared.",
	gateway.ReasonUnconfirmed:   "The endpoint never confirmed it to us.",
	gateway.ReasonNoEvent:       "There is no such event here.",
	gateway.ReasonOtherType:     "There is one here, of another type.",
	gateway.ReasonOtherEndpoint: "There is one here that was never made for this endpoint.",
}

// ReasonText says why a comparison found what it found, in words.
func ReasonText(reason gateway.RowReason) string { return reasonWords[reason] }

// why says why it is missing.
func (r MissingRow) why() string {
	if r.IsMade() {
		return ReasonText(r.Reason)
	}
	switch r.EventStatus {
	case gateway.EventNoEndpoints:
		return "No endpoint asked for it when it was decided."
	case gateway.EventAccepted, gateway.EventHeld, gateway.EventRuleError, gateway.EventUnresolved:
		return "It is not decided: " + component.Word(r.EventStatus) + "."
	case gateway.EventProcessed, gateway.EventIgnored, gateway.EventDuplicateFact, gateway.EventStaleFact:
	}
	return ReasonText(r.Reason)
}

// emptyTab is what a tab says that has nothing.
func (v Reconciliation) emptyTab() component.Empty {
	e := component.Empty{Icon: "circle-check", Title: "Nothing is missing", Text: "The partner lists all that was to go there."}
	switch v.Shown {
	case gateway.RowUnknown:
		e.Title, e.Text = "Nothing is unknown", "All that the partner lists was sent from here."
	case gateway.RowRepeated:
		e.Title, e.Text = "Nothing comes twice", "The partner lists each thing once."
	case gateway.RowFaulty:
		e.Title, e.Text = "Every row could be read", ""
	case gateway.RowMatched:
		e.Icon, e.Title, e.Text = "search", "Nothing matches", "Is it the right endpoint, column and time?"
	case gateway.RowMissing:
	}
	if len(v.Reasons) > 0 || v.Newest != "" {
		e.Icon, e.Title, e.Text = "search", "Nothing more here", ""
	}
	return e
}

// pagerText says what part of the list is shown.
func (v Reconciliation) pagerText() string {
	n := len(v.Missing) + len(v.Rows) + len(v.Faulty)
	return component.Plural(n, "row", "rows") + " on this page"
}

// DeleteReconciliation asks before a comparison is deleted.
type DeleteReconciliation struct {
	Action, Cancel string
	// Name is what it is called, Entered what was typed.
	Name, Entered string
	Rows          int
	Errors        Errors
	Heading       bool
}

// ReconcileForm is the form of a new comparison.
type ReconcileForm struct {
	layout.Frame

	Action, List string
	// Endpoints are those to choose from; NewEndpoint is where one is made.
	Endpoints   []component.Option
	NewEndpoint string
	Matches     []component.Option
	// Chosen are the fields' values.
	Chosen map[string]string
	// NoHeader tells that the box was cleared.
	NoHeader bool
	Errors   Errors
	// KeptFor is how long events are kept, in words.
	KeptFor string
}

// MatchOptions are by what lists can be compared.
func MatchOptions(chosen string) []component.Option {
	options := []component.Option{
		{Value: string(gateway.MatchByEvent), Label: "Event ids", Hint: "What receivers get as webhook-id: evt_…"},
		{Value: string(gateway.MatchByKey), Label: "Idempotency keys", Hint: "What the event was published with, or the provider’s id."},
		{Value: string(gateway.MatchBySubject), Label: "Subjects", Hint: "What the events are about, such as an order’s number."},
	}
	for i := range options {
		options[i].Selected = options[i].Value == chosen
	}
	return options
}
