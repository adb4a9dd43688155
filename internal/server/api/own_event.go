package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/gateway"
)

// ownEvents are what Rowlock tells endpoints that ask for it by name.
var ownEvents = []struct {
	name, about string
	data        reflect.Type
}{
	{
		gateway.TypeEndpointFailing, "An endpoint's counted failures in a row reach 50, 70 or 90 % of those that disable it: once each, until a success starts the count again.",
		reflect.TypeFor[gateway.EndpointFailingData](),
	},
	{gateway.TypeEndpointDisabled, "Rowlock disabled an endpoint.", reflect.TypeFor[gateway.EndpointDisabledData]()},
	{
		gateway.TypeDeliveryFailed, "A delivery was given up: one event for each. It is made only while an endpoint of the account asks for it, so that an outage is no double load for nobody.",
		reflect.TypeFor[gateway.DeliveryFailedData](),
	},
	{
		gateway.TypeDeliveryExpired, "Open deliveries reached the end of their retention and were closed: one event for each day of events.",
		reflect.TypeFor[gateway.DeliveryExpiredData](),
	},
	{
		gateway.TypeClaimDoubtful, "Nobody knows whether an event of a single-fire type reached its endpoint: its lease ended, and no answer was recorded. One event for each holder of the claim.",
		reflect.TypeFor[gateway.ClaimDoubtfulData](),
	},
	{gateway.TypeOperationDone, "A bulk operation came to its end: done, or stopped.", reflect.TypeFor[gateway.OperationDoneData]()},
}

// addOwnEvents tells of Rowlock's own events in the OpenAPI document.
func (a *API) addOwnEvents() {
	document := a.huma.OpenAPI()
	document.Webhooks = map[string]*huma.PathItem{}
	for _, e := range ownEvents {
		document.Webhooks[e.name] = &huma.PathItem{Post: &huma.Operation{
			OperationID: e.name, Summary: e.name, Description: e.about,
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				"application/json": {Schema: document.Components.Schemas.Schema(e.data, true, "")},
			}},
			Responses: map[string]*huma.Response{"2XX": {Description: "It arrived."}},
		}}
	}
}
