package endpoint_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
)

// fields lists the fields that an error complains about.
func fields(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, fields(e)...)
		}
		return all
	}
	if invalid, ok := errors.AsType[*gateway.InvalidError](err); ok {
		return []string{invalid.Field}
	}
	return nil
}

func many[T any](n int, make func(i int) T) *[]T {
	list := []T{}
	for i := range n {
		list = append(list, make(i))
	}
	return &list
}

func TestInputIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	second := func(int) time.Duration { return time.Second }
	inputs := map[string]struct {
		in    endpoint.Input
		field string
	}{
		"forbidden url":      {endpoint.Input{URL: new(badURL)}, "url"},
		"uid with a space":   {endpoint.Input{UID: new("a b")}, "uid"},
		"uid like an id":     {endpoint.Input{UID: new(e.ID.String())}, "uid"},
		"long description":   {endpoint.Input{Description: new(strings.Repeat("ä", 2001))}, "description"},
		"NUL in description": {endpoint.Input{Description: new("a\x00b")}, "description"},
		"bad UTF-8":          {endpoint.Input{Description: new("\xff")}, "description"},
		"empty type":         {endpoint.Input{EventTypes: &[]string{""}}, "event_types"},
		"star inside":        {endpoint.Input{EventTypes: &[]string{"a.*", "a.*.b"}}, "event_types"},
		"many types":         {endpoint.Input{EventTypes: many(501, func(i int) string { return fmt.Sprint("t", i) })}, "event_types"},
		"many waits":         {endpoint.Input{RetrySchedule: many(51, second)}, "retry_schedule"},
		"no wait":            {endpoint.Input{RetrySchedule: &[]time.Duration{time.Second, 0}}, "retry_schedule"},
		"negative wait":      {endpoint.Input{RetrySchedule: &[]time.Duration{-time.Second}}, "retry_schedule"},
		"long wait":          {endpoint.Input{RetrySchedule: &[]time.Duration{gateway.MaxScheduleWait + time.Millisecond}}, "retry_schedule"},
		"fine wait":          {endpoint.Input{RetrySchedule: &[]time.Duration{time.Second + time.Microsecond}}, "retry_schedule"},
		"short timeout":      {endpoint.Input{Timeout: new(gateway.MinTimeout - time.Millisecond)}, "timeout"},
		"long timeout":       {endpoint.Input{Timeout: new(gateway.MaxTimeout + time.Millisecond)}, "timeout"},
		"negative timeout":   {endpoint.Input{Timeout: new(-time.Second)}, "timeout"},
		"none in flight":     {endpoint.Input{MaxInFlight: new(0)}, "max_in_flight"},
		"many in flight":     {endpoint.Input{MaxInFlight: new(gateway.MaxMaxInFlight + 1)}, "max_in_flight"},
		"stop on success":    {endpoint.Input{StopOn: &[]int{404, 200}}, "stop_on"},
		"stop on 600":        {endpoint.Input{StopOn: &[]int{600}}, "stop_on"},
		"no filter":          {endpoint.Input{Filter: new("body.amount >")}, "filter"},
		"unknown variable":   {endpoint.Input{Filter: new("bdy.amount > 1")}, "filter"},
		"no condition":       {endpoint.Input{Filter: new("1 + 1")}, "filter"},
		"long filter":        {endpoint.Input{Filter: new("type == '" + strings.Repeat("x", gateway.MaxFilterLength) + "'")}, "filter"},
		"secret":             {endpoint.Input{Secret: new("hunter2")}, "secret"},
		"signature":          {endpoint.Input{Signature: new(gateway.SignatureVersion("v2"))}, "signature"},
		"no signature":       {endpoint.Input{Signature: new(gateway.SignatureVersion(""))}, "signature"},
		"auth of no type":    {endpoint.Input{Auth: &endpoint.Auth{Type: "digest", Username: "u"}}, "auth.type"},
		"basic without":      {endpoint.Input{Auth: &endpoint.Auth{Type: gateway.AuthBasic}}, "auth.username"},
		"basic with token":   {endpoint.Input{Auth: &endpoint.Auth{Type: gateway.AuthBasic, Username: "u", Token: "t"}}, "auth.token"},
		"basic with colon":   {endpoint.Input{Auth: &endpoint.Auth{Type: gateway.AuthBasic, Username: "u:"}}, "auth.username"},
		"bearer without":     {endpoint.Input{Auth: &endpoint.Auth{Type: gateway.AuthBearer}}, "auth.token"},
		"bearer with user":   {endpoint.Input{Auth: &endpoint.Auth{Type: gateway.AuthBearer, Username: "u", Token: "t"}}, "auth.username"},
		"bearer with line":   {endpoint.Input{Auth: &endpoint.Auth{Type: gateway.AuthBearer, Token: "t\nx"}}, "auth.token"},
		"auth and header": {endpoint.Input{
			Auth: &endpoint.Auth{Type: gateway.AuthBearer, Token: "t"}, Headers: &map[string]string{"authorization": "x"},
		}, "auth"},
		"header": {endpoint.Input{Headers: &map[string]string{"Host": "x"}}, "headers.Host"},
	}
	for name, tt := range inputs {
		_, err := b.Update(t.Context(), b.account, actor, e.ID, tt.in)
		if diff := cmp.Diff([]string{tt.field}, fields(err)); diff != "" {
			t.Errorf("%s: update: %v %s", name, err, diff)
		}
		if tt.in.URL == nil {
			tt.in.URL = new("https://example.com")
		}
		_, _, err = b.Create(t.Context(), b.account, actor, tt.in)
		if diff := cmp.Diff([]string{tt.field}, fields(err)); diff != "" {
			t.Errorf("%s: create: %v %s", name, err, diff)
		}
	}
	got, err := b.store.Endpoint(t.Context(), b.account, e.ID)
	if diff := cmp.Diff(e, got); diff != "" || err != nil {
		t.Errorf("something was changed: %v %s", err, diff)
	}
}

func TestInputAtItsLimits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	inputs := map[string]endpoint.Input{
		"waits":     {RetrySchedule: many(50, func(int) time.Duration { return gateway.MaxScheduleWait })},
		"wait":      {RetrySchedule: &[]time.Duration{time.Millisecond}},
		"shortest":  {Timeout: new(gateway.MinTimeout), MaxInFlight: new(1)},
		"longest":   {Timeout: new(gateway.MaxTimeout), MaxInFlight: new(gateway.MaxMaxInFlight)},
		"types":     {EventTypes: many(500, func(i int) string { return fmt.Sprint("t", i) })},
		"all types": {EventTypes: &[]string{"*", "rowlock.*"}},
		"codes":     {StopOn: many(300, func(i int) int { return 300 + i })},
		"filter":    {Filter: new(strings.Repeat("type == 'a' || ", 270) + "false")},
		"text":      {Description: new(strings.Repeat("ä", 2000))},
	}
	for name, in := range inputs {
		if _, err := b.Update(t.Context(), b.account, actor, e.ID, in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, _, err := b.Create(t.Context(), b.account, actor, endpoint.Input{
		URL: new(badURL), UID: new("a b"), MaxInFlight: new(0), Secret: new("x"),
	})
	got := fields(err)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"max_in_flight", "secret", "uid", "url"}, got); diff != "" {
		t.Error(diff)
	}
	var invalid *gateway.InvalidError
	if !errors.As(err, &invalid) || invalid.Code != "url_address_forbidden" {
		t.Errorf("the URL's code is lost: %v", err)
	}
	if _, _, err := b.Create(t.Context(), b.account, actor, endpoint.Input{}); !slices.Equal(fields(err), []string{"url"}) {
		t.Errorf("nothing given: %v", err)
	}
}
