package gateway

import (
	"net/url"
	"slices"
	"time"
)

// Own event types: what Rowlock tells about an account to the endpoints that
// ask for it by name.
const (
	// TypeEndpointDisabled tells that an endpoint was stopped by Rowlock.
	TypeEndpointDisabled = "rowlock.endpoint.disabled"
	// TypeEndpointFailing tells that an endpoint comes nearer to being disabled.
	TypeEndpointFailing = "rowlock.endpoint.failing"
	// TypeDeliveryFailed tells that a delivery was given up. It is made only
	// while an endpoint of the account asks for it.
	TypeDeliveryFailed = "rowlock.delivery.failed"
	// TypeDeliveryExpired tells that open deliveries reached the end of their
	// retention.
	TypeDeliveryExpired = "rowlock.delivery.expired"
	// TypeOperationDone tells that a bulk operation has ended.
	TypeOperationDone = "rowlock.operation.done"
	// TypeClaimDoubtful tells that nobody knows whether an event of a single-fire
	// type reached its endpoint.
	TypeClaimDoubtful = "rowlock.claim.doubtful"
	// TypeTest is the type of a test send that names none.
	TypeTest = "rowlock.test"
)

// IsAlert tells whether members may want to be written to about each event of
// this type. Failed deliveries are gathered instead.
func IsAlert(eventType string) bool {
	return slices.Contains([]string{TypeEndpointFailing, TypeEndpointDisabled, TypeDeliveryExpired, TypeOperationDone, TypeClaimDoubtful}, eventType)
}

// EndpointFailingData is the data of TypeEndpointFailing.
type EndpointFailingData struct {
	EndpointID   EndpointID `json:"endpoint_id"`
	URL          string     `json:"url" doc:"Without its query."`
	Percent      int        `json:"percent" enum:"50,70,90" doc:"How much of disable_after is reached."`
	Failures     int        `json:"failures" doc:"Counted failures in a row: at most one a second counts."`
	DisableAfter int        `json:"disable_after" doc:"How many failures in a row disable it."`
	FailingSince time.Time  `json:"failing_since" doc:"When the first of them was counted."`
	LastCause
}

// EndpointDisabledData is the data of TypeEndpointDisabled.
type EndpointDisabledData struct {
	EndpointID EndpointID `json:"endpoint_id"`
	URL        string     `json:"url" doc:"Without its query."`
	Reason     string     `json:"reason" example:"100 failures in a row" doc:"Why, in words."`
	DisabledAt time.Time  `json:"disabled_at" doc:"When deliveries to it ended."`
	// FailingSince is nil when the endpoint was disabled by its first answer.
	FailingSince *time.Time `json:"failing_since,omitempty" doc:"When the first of the failures in a row was counted."`
	LastCause
}

// DeliveryFailedData is the data of TypeDeliveryFailed.
type DeliveryFailedData struct {
	DeliveryID DeliveryID `json:"delivery_id"`
	EventID    EventID    `json:"event_id"`
	EventType  string     `json:"event_type" example:"order.created"`
	EndpointID EndpointID `json:"endpoint_id"`
	URL        string     `json:"url" doc:"Without its query."`
	Attempts   int        `json:"attempts" doc:"How many there were."`
	FailedAt   time.Time  `json:"failed_at" doc:"When it was given up."`
	LastCause
}

// DeliveryExpiredData is the data of TypeDeliveryExpired: one event an account
// and day.
type DeliveryExpiredData struct {
	Day        string    `json:"day" format:"date" example:"2026-07-01" doc:"The day (UTC) whose events reached the end of their retention."`
	Deliveries int       `json:"deliveries" doc:"How many were still open, and were closed as expired."`
	ExpiredAt  time.Time `json:"expired_at" doc:"When they were closed."`
}

// OperationDoneData is the data of TypeOperationDone.
type OperationDoneData struct {
	ID         OperationID    `json:"id" example:"op_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Kind       OperationKind  `json:"kind" enum:"recover_failed,recover_missing,redeliver,reprocess" example:"recover_failed" doc:"What it does."`
	State      OperationState `json:"state" enum:"done,cancelled" doc:"Whether it has been over all of it, or was stopped."`
	Total      int            `json:"total" doc:"How many it matched."`
	Done       int            `json:"done" doc:"Of how many it did what it is for."`
	Failed     int            `json:"failed" doc:"How many it had to skip."`
	EndpointID *EndpointID    `json:"endpoint_id,omitempty" doc:"The endpoint that it was about, if it was about one."`
}

// ClaimDoubtfulData is the data of TypeClaimDoubtful.
type ClaimDoubtfulData struct {
	ClaimID        ClaimID     `json:"claim_id"`
	EndpointID     EndpointID  `json:"endpoint_id" doc:"The endpoint that the event was for."`
	EventType      string      `json:"event_type" example:"credit.checked"`
	Subject        string      `json:"subject" example:"customer-1001" doc:"What the event is about."`
	DeliveryID     *DeliveryID `json:"delivery_id,omitempty" doc:"The delivery that was being sent."`
	Fence          int64       `json:"fence" doc:"Which holder of the claim it was."`
	OnDoubt        OnDoubt     `json:"on_doubt" enum:"resend,hold" doc:"What happens now: it is sent again under the same Idempotency-Key, or waits for a person."`
	LeaseExpiredAt time.Time   `json:"lease_expired_at" doc:"Until when an answer was waited for."`
}

// LastCause is why the last attempt failed, in an own event.
type LastCause struct {
	Outcome    Outcome   `json:"last_outcome" enum:"rejected,unreachable,unknown" doc:"How the last attempt ended."`
	ErrorKind  ErrorKind `json:"last_error_kind,omitempty" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol" doc:"Why no answer came; left out when one did."`
	StatusCode int       `json:"last_status_code,omitempty" doc:"The answer's; left out when none came."`
}

// LastCauseOf is a cause in an own event.
func LastCauseOf(c Cause) LastCause {
	return LastCause{Outcome: c.Outcome(), ErrorKind: c.ErrorKind, StatusCode: c.StatusCode}
}

// Cause is what the own event tells of.
func (c LastCause) Cause() Cause { return Cause{ErrorKind: c.ErrorKind, StatusCode: c.StatusCode} }

// FailingPercents are the parts of the limit of failures in a row at which is
// told that an endpoint comes nearer to it. The last one is the last warning.
var FailingPercents = []int{50, 70, 90}

// LastWarning is the last of FailingPercents.
const LastWarning = 90

// FailingPercent tells which part of the limit a failure has reached that is
// the nth in a row; zero for none. Failures are counted one by one, so that
// each part is reached once; the limit itself is told as a disabled endpoint.
func FailingPercent(n, limit int) (reached int) {
	if n >= limit {
		return 0
	}
	for _, percent := range FailingPercents {
		if n == (limit*percent+99)/100 {
			reached = percent
		}
	}
	return reached
}

// PlainURL is an address as it may be told to others: without a query and a
// user, which may be secrets. What cannot be parsed is empty.
func PlainURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
