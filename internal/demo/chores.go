package demo

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// compareAfter and compareEvery are when the billing partner's list is compared,
	// recoverAfter and recoverEvery when what the CRM refused is sent again.
	compareAfter, compareEvery = 25 * time.Second, 10 * time.Minute
	recoverAfter, recoverEvery = 35 * time.Second, 5 * time.Minute
	// settled is how old an event is whose deliveries are through.
	settled = 8 * time.Second
	// leftOut is how many of our events the partner's list lacks.
	leftOut = 3
	// noted bounds how many events are remembered.
	noted = 2000
)

// told is an event that billing gets.
type told struct {
	key, eventType string
	at             time.Time
}

// note remembers what the partner's list is made of.
func (d *demo) note(eventType, key string) {
	if kind, _, _ := strings.Cut(eventType, "."); !slices.Contains([]string{"order", "invoice", "charge"}, kind) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told = append(d.told, told{key, eventType, time.Now()}); len(d.told) > noted {
		d.told = d.told[len(d.told)-noted:]
	}
}

// compare compares the list of the billing partner, which lacks some, has one twice,
// and one that nobody here knows.
func (d *demo) compare(ctx context.Context) error {
	list, since, until := d.partnersList(time.Now().Add(-settled))
	if list == nil {
		return nil
	}
	query := url.Values{
		"endpoint": {billing}, "match": {"key"}, "key_column": {"key"}, "type_column": {"type"}, "name": {"billing-partner.csv"},
		"since": {since.UTC().Format(time.RFC3339Nano)}, "until": {until.UTC().Format(time.RFC3339Nano)},
	}
	return d.api.Upload(ctx, "/reconciliations?"+query.Encode(), "text/csv", list, nil)
}

// partnersList is what billing says that it got until a time; nil: too little.
func (d *demo) partnersList(until time.Time) (list []byte, since, before time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.told) && d.told[n].at.Before(until) {
		n++
	}
	if n <= 2*leftOut {
		return nil, since, before
	}
	var text bytes.Buffer
	text.WriteString("key,type\n")
	for _, o := range d.told[:n-leftOut] {
		fmt.Fprintf(&text, "%s,%s\n", o.key, o.eventType)
	}
	fmt.Fprintf(&text, "%s,%s\norder-9999-created,order.created\n", d.told[0].key, d.told[0].eventType)
	// An event is accepted just before the answer by which it is noted.
	return text.Bytes(), d.told[0].at.Add(-time.Second), until
}

// recover sends again what the CRM refused: by then it has learnt of the currency.
func (d *demo) recover(ctx context.Context) error {
	now := time.Now().UTC()
	return d.api.Do(ctx, http.MethodPost, "/endpoints/"+crm+"/recover", map[string]any{
		"since": now.Add(-recoverEvery).Format(time.RFC3339Nano), "until": now.Add(-settled).Format(time.RFC3339Nano),
	}, nil)
}
