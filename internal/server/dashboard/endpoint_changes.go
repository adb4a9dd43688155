package dashboard

import (
	"maps"
	"slices"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
)

// changesOnly leaves out what the endpoint has already, so that the audit log
// names what was changed.
func changesOnly(in endpoint.Input, e gateway.Endpoint) endpoint.Input {
	uid := ""
	if e.UID != nil {
		uid = *e.UID
	}
	headers := map[string]string{}
	for name, values := range gateway.DecodeHeaders(e.Headers) {
		headers[name] = values[0]
	}
	var failover gateway.EndpointID
	if e.Failover != nil {
		failover = *e.Failover
	}
	return endpoint.Input{
		URL: unlessSame(in.URL, e.URL), UID: unlessSame(in.UID, uid), Description: unlessSame(in.Description, e.Description),
		Timeout: unlessSame(in.Timeout, e.Timeout), MaxInFlight: unlessSame(in.MaxInFlight, e.MaxInFlight),
		RatePerSecond: unlessSame(in.RatePerSecond, e.RatePerSecond), Filter: unlessSame(in.Filter, e.Filter),
		Failover: unlessSame(in.Failover, failover), Signature: unlessSame(in.Signature, e.Signature),
		Auth:       unlessEqual(in.Auth, in.Auth != nil && in.Auth.Type == gateway.AuthNone && e.Auth == gateway.AuthNone),
		EventTypes: unlessEqual(in.EventTypes, slices.Equal(*in.EventTypes, e.EventTypes)),
		StopOn:     unlessEqual(in.StopOn, slices.Equal(*in.StopOn, e.StopOn)),
		Headers:    unlessEqual(in.Headers, maps.Equal(*in.Headers, headers)),
		RetrySchedule: unlessEqual(in.RetrySchedule,
			(*in.RetrySchedule == nil) == (e.RetrySchedule == nil) && slices.Equal(*in.RetrySchedule, e.RetrySchedule)),
	}
}

func unlessSame[T comparable](entered *T, is T) *T {
	return unlessEqual(entered, entered == nil || *entered == is)
}

func unlessEqual[T any](entered *T, equal bool) *T {
	if equal {
		return nil
	}
	return entered
}
