package page_test

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// endpointNow is the time of every page here.
var endpointNow = time.Date(2026, 11, 29, 16, 20, 8, 0, time.UTC)

func endpointID(n byte) gateway.EndpointID {
	id := gateway.FirstIDAt[gateway.EndpointID](endpointNow)
	id[15] = n
	return id
}

func endpointAttempt(n int, outcome gateway.Outcome) gateway.Attempt {
	a := gateway.Attempt{
		DeliveryID: gateway.DeriveDeliveryID(gateway.EventID{byte(n)}, endpointID(1)), N: n%8 + 1,
		StartedAt: endpointNow.Add(-time.Duration(n) * time.Minute), Duration: 125 * time.Millisecond, Outcome: outcome,
	}
	switch outcome {
	case gateway.OutcomeSucceeded:
		a.StatusCode = 200
	case gateway.OutcomeRejected:
		a.StatusCode = 503
	case gateway.OutcomeUnreachable:
		a.ErrorKind, a.Detail = gateway.ErrorTimeout, "No complete answer within 15 s."
	case gateway.OutcomeUnknown:
	}
	return a
}

// endpointView is the page of an endpoint that does well.
func endpointView() page.Endpoint {
	oldest := endpointNow.Add(-5*time.Hour - 16*time.Minute)
	return page.Endpoint{
		Frame: framed(), Now: endpointNow, Manages: true, Operates: true,
		Endpoint: gateway.Endpoint{
			ID: endpointID(1), URL: "https://erp.example.com/hooks", Description: "ERP sync", State: gateway.EndpointActive,
			EventTypes: []string{"order.*"}, MaxInFlight: 64, CreatedAt: endpointNow.Add(-time.Hour),
			Headers: gateway.EncodeHeaders(map[string][]string{"X-Token": {"s3cret"}}),
		},
		Numbers: page.EndpointNumbers{
			Attempts: 1000, Succeeded: 613, BeforeAttempts: 100, BeforeSucceeded: 99,
			P95: 212 * time.Millisecond, BeforeP95: 300 * time.Millisecond, GaveUp: 9, BeforeGaveUp: 2,
		},
		State: string(gateway.EndpointActive),
		At: page.EndpointNow{
			Recent: []gateway.Outcome{gateway.OutcomeSucceeded, gateway.OutcomeRejected}, Flow: gateway.Flow{Cap: 4},
			Waiting: 164, Oldest: &oldest, Due: 12, DueSince: new(endpointNow.Add(-3 * time.Second)), Later: 152, NextAt: new(endpointNow.Add(8 * time.Second)),
		},
		Chart: page.EndpointChart{
			Title: "Last 24 hours", Range: "24h", Bins: []component.Bin{{Label: "16:15 UTC", OK: 9, Retry: 2, Bad: 1}},
			Ranges: []component.Choice{{Text: "1h", Href: "/x?range=1h"}, {Text: "24h", Href: "/x?range=24h", Current: true}},
		},
		Attempts: page.EndpointAttempts{Most: 8, All: "/all"},
		Secrets:  []page.EndpointSecret{{ID: gateway.SecretID{1}, CreatedAt: endpointNow.Add(-time.Hour)}},
		Server:   page.EndpointDefaults{Schedule: []time.Duration{5 * time.Second, 5 * time.Minute}, Timeout: 15 * time.Second},
	}
}
