package endpoint

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Changes is what Update would change of an endpoint: the input without what is
// as it asks for already, and the names of what is left. What the endpoint asks
// for at its door is sealed and not compared: an input that gives it changes it.
// Errors: gateway.InvalidErrors, joined, as of Update.
func (s *Service) Changes(ctx context.Context, e gateway.Endpoint, in Input) (Input, []string, error) {
	checkURL, err := s.urlCheck(ctx, e.AccountID, in)
	if err != nil {
		return in, nil, err
	}
	after := e
	if err := errors.Join(in.applyTo(&after, checkURL), in.refuseFixed()); err != nil {
		return in, nil, err
	}
	keep(&in.URL, e.URL != after.URL)
	keep(&in.UID, !same(e.UID, after.UID))
	keep(&in.Description, e.Description != after.Description)
	keep(&in.EventTypes, !slices.Equal(e.EventTypes, after.EventTypes))
	keep(&in.Headers, !bytes.Equal(e.Headers, after.Headers))
	// No schedule is the server's, an empty one is one attempt.
	keep(&in.RetrySchedule, (e.RetrySchedule == nil) != (after.RetrySchedule == nil) || !slices.Equal(e.RetrySchedule, after.RetrySchedule))
	keep(&in.Timeout, e.Timeout != after.Timeout)
	keep(&in.MaxInFlight, e.MaxInFlight != after.MaxInFlight)
	keep(&in.StopOn, !slices.Equal(e.StopOn, after.StopOn))
	keep(&in.Filter, e.Filter != after.Filter)
	keep(&in.RatePerSecond, e.RatePerSecond != after.RatePerSecond)
	keep(&in.Failover, !same(e.Failover, after.Failover))
	keep(&in.Signature, e.Signature != after.Signature)
	return in, in.given(), nil
}

// keep takes a field out of an input that changes nothing.
func keep[T any](field **T, changes bool) {
	if !changes {
		*field = nil
	}
}

func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
