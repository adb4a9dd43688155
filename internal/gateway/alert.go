package gateway

// AlertKind is something that a member of an account can be written to about.
type AlertKind string

// What members can be written to about.
const (
	AlertEndpointDisabled AlertKind = "endpoint.disabled"
	// AlertEndpointFailing is for the last warning before an endpoint is
	// disabled, AlertEndpointFailingEarly for those before.
	AlertEndpointFailing      AlertKind = "endpoint.failing"
	AlertEndpointFailingEarly AlertKind = "endpoint.failing_early"
	// AlertDeliveryFailed is gathered: one mail an endpoint and hour.
	AlertDeliveryFailed  AlertKind = "delivery.failed"
	AlertDeliveryExpired AlertKind = "delivery.expired"
	AlertClaimDoubtful   AlertKind = "claim.doubtful"
	AlertOperationDone   AlertKind = "operation.done"
	// AlertKeyEnds is for API keys that end within ExpiryNotice.
	AlertKeyEnds AlertKind = "key.ends"
)

// AlertKinds lists every kind, in the order in which they are shown.
var AlertKinds = []AlertKind{
	AlertEndpointDisabled, AlertEndpointFailing, AlertEndpointFailingEarly,
	AlertClaimDoubtful, AlertDeliveryFailed, AlertDeliveryExpired, AlertOperationDone, AlertKeyEnds,
}

// ByDefault tells whether those whom it Concerns are written to about it unless
// they chose otherwise. Nobody else is.
func (k AlertKind) ByDefault() bool {
	return k == AlertEndpointDisabled || k == AlertEndpointFailing || k == AlertClaimDoubtful || k == AlertKeyEnds
}

// Concerns is the permission of those who ByDefault means: who can do something
// about it.
func (k AlertKind) Concerns() Permission {
	if k == AlertKeyEnds {
		return PermKeys
	}
	return PermOperate
}
