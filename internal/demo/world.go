package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/signature"
)

// endpoint is one of the account's, as the API takes it. URL is a path of the
// receiver, or a whole address.
type endpoint struct {
	UID           string   `json:"uid"`
	URL           string   `json:"url"`
	Description   string   `json:"description"`
	EventTypes    []string `json:"event_types"`
	RetrySchedule []string `json:"retry_schedule"`
	Timeout       string   `json:"timeout,omitempty"`
	StopOn        []int    `json:"stop_on,omitempty"`
	Secret        string   `json:"secret"`

	paused bool
}

// What the endpoints are called: the paths of the receiver are, too.
const (
	billing   = "billing"
	analytics = "analytics"
	mailer    = "mailer"
	crm       = "crm"
	risk      = "risk"
	search    = "search"
	warehouse = "warehouse"
)

// endpoints are one of each sort: one that is well, one of which a quarter of the
// requests fail, one that loses answers, one that refuses some orders and is down at
// times, one that takes its time, one that is gone for good, one whose name cannot be
// found, and one that a person has paused.
var endpoints = []endpoint{
	{UID: billing, URL: billing, Description: "Billing", EventTypes: []string{"order.*", "invoice.*", "charge.*"}},
	{
		UID: analytics, URL: analytics, Description: "Analytics",
		EventTypes: []string{"order.*", "invoice.*", "user.*", "shipment.*"}, RetrySchedule: []string{"1s", "3s", "10s", "1m"},
	},
	{
		UID: mailer, URL: mailer, Description: "Welcome mails",
		EventTypes: []string{"user.created"}, RetrySchedule: []string{"1s", "2s", "5s", "10s"}, Timeout: "2s",
	},
	{
		UID: crm, URL: crm, Description: "CRM",
		EventTypes: []string{"order.created"}, RetrySchedule: []string{"2s", "10s"}, StopOn: []int{http.StatusUnprocessableEntity},
	},
	{UID: risk, URL: risk, Description: "Credit decisions", EventTypes: []string{"credit.checked"}, RetrySchedule: []string{"2s", "5s", "15s"}},
	{UID: search, URL: search, Description: "Old search index", EventTypes: []string{"order.created"}},
	{UID: "erp", URL: "https://erp.demo.invalid/webhooks", Description: "ERP", EventTypes: []string{"invoice.paid"}, RetrySchedule: []string{}},
	{UID: warehouse, URL: warehouse, Description: "Warehouse", EventTypes: []string{"shipment.*"}, paused: true},
}

// source is one of the account's, with the provider that sends to it.
type source struct {
	scheme signature.Scheme
	secret string
	// url is what the provider was told, address where it is reached from here.
	url, address string
}

// The sources' uids, which are their kinds' where that says enough.
const (
	stripe  = "stripe"
	carrier = "carrier"
	github  = "github"
)

// sourceInput is a source as the API takes it, with its rule.
type sourceInput struct {
	UID    string `json:"uid"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Secret string `json:"secret"`

	rule map[string]any
}

func sources() []sourceInput {
	return []sourceInput{
		{UID: stripe, Name: "Stripe", Kind: "stripe", Secret: newSecret(), rule: map[string]any{"subject": "body.data.object.customer"}},
		{UID: carrier, Name: "Parcel carrier", Kind: "standard_webhooks", Secret: newSecret(), rule: map[string]any{
			"type": `"shipment.updated"`, "subject": "body.shipment", "state": "body.status", "emit": `"shipment." + body.status`,
			"rank": states, "terminal": terminal,
		}},
		{UID: github, Name: "GitHub", Kind: "github", Secret: newSecret(), rule: map[string]any{
			"subject": "body.repository.full_name", "emit": `body.ref == "refs/heads/main" ? dyn("deploy.requested") : dyn(null)`,
		}},
	}
}

// eventType is one that is declared.
type eventType struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Schema      map[string]any   `json:"schema,omitempty"`
	Examples    []map[string]any `json:"examples,omitempty"`
	SingleFire  bool             `json:"single_fire,omitempty"`
	OnDoubt     string           `json:"on_doubt,omitempty"`
}

var eventTypes = []eventType{
	{
		Name: "order.created", Description: "An order was placed in the shop.",
		Schema: map[string]any{
			"type": "object", "required": []string{"order", "customer", "total"},
			"properties": map[string]any{"order": map[string]any{"type": "integer"}, "customer": map[string]any{"type": "string"}, "total": map[string]any{"type": "number"}},
		},
		Examples: []map[string]any{{"order": 1001, "customer": "cus_ada", "total": 27.5, "currency": "EUR"}},
	},
	{Name: "order.paid", Description: "An order was paid.", Examples: []map[string]any{{"order": 1001}}},
	{Name: "user.created", Description: "Somebody signed up in the shop.", Examples: []map[string]any{{"user": "usr_1001", "email": "ada@example.com"}}},
	{
		Name: "credit.checked", Description: "A credit check was completed. It reaches each endpoint once for each customer.",
		Examples: []map[string]any{{"customer": "cus_ada", "score": 640}}, SingleFire: true, OnDoubt: "hold",
	},
}

// setUp makes what the account needs, and sets the receiver to work.
func (d *demo) setUp(ctx context.Context) error {
	if p, ok := errors.AsType[*client.Problem](d.api.Do(ctx, http.MethodGet, "/endpoints?limit=1", nil, nil)); ok && p.Status == http.StatusUnauthorized {
		return &elsewhereError{d.Server}
	}
	for _, t := range eventTypes {
		if err := d.api.Do(ctx, http.MethodPost, "/event-types", t, nil); err != nil {
			return fmt.Errorf("declare %s: %w", t.Name, err)
		}
	}
	for _, s := range sources() {
		if err := d.addSource(ctx, s); err != nil {
			return fmt.Errorf("add the source %s: %w", s.UID, err)
		}
	}
	for _, e := range endpoints {
		if err := d.addEndpoint(ctx, e); err != nil {
			return fmt.Errorf("add the endpoint %s: %w", e.UID, err)
		}
	}
	return d.employ(ctx)
}

func (d *demo) addEndpoint(ctx context.Context, e endpoint) error {
	e.Secret = d.Receiver.secret
	if u, err := url.Parse(e.URL); err == nil && u.Scheme == "" {
		e.URL = "http://" + d.Receiver.Address().String() + "/" + e.URL
	}
	if err := d.api.Do(ctx, http.MethodPost, "/endpoints", e, nil); err != nil || !e.paused {
		return err
	}
	return d.api.Do(ctx, http.MethodPost, "/endpoints/"+e.UID+"/pause", nil, nil)
}

func (d *demo) addSource(ctx context.Context, in sourceInput) error {
	var made struct {
		IngestURL string `json:"ingest_url"`
	}
	if err := d.api.Do(ctx, http.MethodPost, "/sources", in, &made); err != nil {
		return err
	}
	told, err := url.Parse(made.IngestURL)
	if err != nil {
		return fmt.Errorf("read the ingest URL: %w", err)
	}
	server, err := url.Parse(d.Server)
	if err != nil {
		return fmt.Errorf("read the server's address: %w", err)
	}
	scheme, ok := signature.Lookup(in.Kind)
	if !ok {
		return fmt.Errorf("nobody knows the kind %s", in.Kind)
	}
	// The public address need not lead here.
	d.sources[in.UID] = source{scheme: scheme, secret: in.Secret, url: made.IngestURL, address: server.JoinPath(told.Path).String()}
	return d.api.Do(ctx, http.MethodPut, "/sources/"+in.UID+"/rule", in.rule, nil)
}

// employ gives the receiver a key of its own.
func (d *demo) employ(ctx context.Context) error {
	var made struct {
		Key string `json:"key"`
	}
	err := d.api.Do(ctx, http.MethodPost, "/api-keys", map[string]any{"name": "Mailer and invoicer", "scopes": []string{"publish"}}, &made)
	if err != nil {
		return fmt.Errorf("make the receiver's key: %w", err)
	}
	return d.Receiver.employ(job{Server: d.Server, Key: made.Key})
}

// elsewhereError is a server that does not know the account which was just made.
type elsewhereError struct{ server string }

// Error says why that is.
func (e *elsewhereError) Error() string {
	return "the server at " + e.server + " works on another database than these settings name: it does not know the account"
}

// Hint says what to do.
func (e *elsewhereError) Hint() string {
	return "Give the demo the settings of that server (ROWLOCK_DATABASE_URL or ROWLOCK_DATA_DIR), or unset " + client.ServerVariable + "."
}
