package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
)

// askLimit bounds one request.
const askLimit = 30 * time.Second

// browser asks for pages as somebody who is logged in.
type browser struct {
	client *http.Client
	base   string
	email  string
}

// signUp makes the first person of the instance.
func signUp(ctx context.Context, base string) (*browser, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("make a cookie jar: %w", err)
	}
	b := &browser{base: base, email: "reader-" + strings.ToLower(rand.Text()) + "@example.com", client: &http.Client{
		Jar: jar, Timeout: askLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	form := url.Values{"name": {"Reader"}, "email": {b.email}, "password": {"a long enough passphrase 7"}, "account": {"Reader"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/signup", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("sign up: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", base)
	answer, err := b.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("sign up: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	if answer.StatusCode != http.StatusSeeOther {
		return nil, fmt.Errorf("sign up: %s", answer.Status)
	}
	return b, nil
}

// read asks for a page, and returns its size in bytes as it was sent:
// compressed.
func (b *browser) read(ctx context.Context, path string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+path, nil)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Accept-Encoding", "gzip")
	answer, err := b.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	size, err := io.Copy(io.Discard, answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("read %s: %s", path, answer.Status)
	}
	return size, err
}

// pathsOf makes the reader a member of an account, and lists its pages.
func pathsOf(ctx context.Context, pool *pgxpool.Pool, a fill.Account, email string) ([]string, error) {
	_, err := pool.Exec(ctx, `
		INSERT INTO members (account_id, user_id, role)
		SELECT $1, id, 'owner'
		FROM users
		WHERE email = $2`, a.ID, email)
	if err != nil {
		return nil, fmt.Errorf("become a member: %w", err)
	}
	// In a database that was measured before, somebody else is.
	if _, err := pool.Exec(ctx, `UPDATE instance_owner SET user_id = (SELECT id FROM users WHERE email = $1)`, email); err != nil {
		return nil, fmt.Errorf("become the instance's owner: %w", err)
	}
	seen, err := sampleOf(ctx, pool, a.ID)
	if err != nil {
		return nil, err
	}
	return lists(a, seen), nil
}

// sample is an event of the middle of the history, with one of its deliveries.
type sample struct {
	event    gateway.EventID
	delivery gateway.DeliveryID
	subject  string
	key      []byte
}

func sampleOf(ctx context.Context, pool *pgxpool.Pool, account gateway.AccountID) (seen sample, err error) {
	var days int
	if err := pool.QueryRow(ctx, `SELECT greatest(count(DISTINCT hour::date), 1) FROM usage WHERE account_id = $1`, account).Scan(&days); err != nil {
		return seen, fmt.Errorf("count the days: %w", err)
	}
	middle := gateway.FirstIDAt[gateway.DeliveryID](time.Now().Add(-time.Duration(days) * 12 * time.Hour))
	err = pool.QueryRow(ctx, `
		SELECT d.event_id, d.id, e.subject, e.key
		FROM deliveries d
		JOIN events e
		  ON e.id = d.event_id
		WHERE d.account_id = $1
		  AND d.id < $2
		  AND d.status = 'delivered'
		ORDER BY d.id DESC
		LIMIT 1`, account, middle).Scan(&seen.event, &seen.delivery, &seen.subject, &seen.key)
	if err != nil {
		return seen, fmt.Errorf("find an event: %w", err)
	}
	return seen, nil
}

// lists are every list page by each of its filters, and the pages beside them.
func lists(a fill.Account, seen sample) (paths []string) {
	home := "/a/" + a.ID.String()
	source, endpoint := a.Sources[1].String(), a.Endpoints[0].String()
	event, delivery := seen.event.String(), seen.delivery.String()
	add := func(under string, queries ...string) {
		for _, q := range queries {
			paths = append(paths, home+under+q)
		}
	}
	add("", "", "?range=1h", "?range=7d", "?range=30d")
	add("/events", "", "?range=1h", "?range=7d", "?range=all", "?after="+event+"&range=all",
		"?type=order.paid", "?range=all&type="+url.QueryEscape(fill.RareType), "?range=all&type=nothing.such", "?source="+source, "?source="+source+"&type=order.paid",
		"?endpoint="+endpoint, "?endpoint="+endpoint+"&status=failed&range=7d", "?endpoint="+endpoint+"&type=order.paid", "?after="+event+"&endpoint="+endpoint+"&range=all",
		"?status=failed&range=all", "?status=retrying&range=all", "?status=pending&range=all", "?status=delivered&range=all", "?status=failed&status=retrying&type=order.paid&range=all",
		"?range=all&status=rule_error", "?range=all&status=no_endpoints&status=unresolved", "?range=all&status=held",
		"?subject="+url.QueryEscape(seen.subject), "?key="+url.QueryEscape(string(seen.key)), "?q="+url.QueryEscape(seen.subject), "?q="+url.QueryEscape(string(seen.key)), "?q="+event, "?q=order.paid")
	// These look into bodies, for as long as a search may.
	add("/events", "?q="+url.QueryEscape("$.n = 17"), "?q="+url.QueryEscape("$.no.such = 1"), "?q=nothing.such")
	add("/events/"+event, "", "/redeliver")
	add("/deliveries", "", "?outcome=rejected", "?status=failed&range=all", "?status=pending&range=all", "?status=held&range=all", "?endpoint="+endpoint, "?after="+delivery+"&range=all", "/"+delivery)
	add("/attempts", "", "?outcome=rejected", "?endpoint="+endpoint, "?outcome=unknown&range=all")
	add("/failures", "", "?group=cause", "?group=none&since=7d", "?state=retrying")
	add("/endpoints", "", "/"+endpoint, "/"+endpoint+"?range=30d", "/"+endpoint+"/edit")
	add("/sources", "", "/"+source, "/new")
	add("/event-types", "")
	add("/audit", "", "?range=all", "?outcome=refused", "?outcome=done&range=all", "?area=endpoint&range=all", "?actor=rowlock", "?object="+endpoint+"&range=all")
	for _, under := range []string{"/facts", "/claims", "/reconcile", "/operations", "/usage", "/settings", "/settings/keys", "/settings/alerts"} {
		add(under, "")
	}
	return append(paths, "/accounts", "/me/security", "/instance/accounts", "/instance/mail", "/instance/lanes", "/instance/audit")
}
