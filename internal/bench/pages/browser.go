package main

import (
	"context"
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
	b := &browser{base: base, email: "reader@example.com", client: &http.Client{
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
	var event gateway.EventID
	var delivery gateway.DeliveryID
	err = pool.QueryRow(ctx, `
		SELECT event_id, id
		FROM deliveries
		WHERE account_id = $1
		ORDER BY id DESC
		LIMIT 1`, a.ID).Scan(&event, &delivery)
	if err != nil {
		return nil, fmt.Errorf("find an event: %w", err)
	}
	home := "/a/" + a.ID.String()
	source, endpoint := home+"/sources/"+a.Sources[1].String(), home+"/endpoints/"+a.Endpoints[0].String()
	return []string{
		home, home + "?range=30d",
		home + "/events", home + "/events?range=all&status=rule_error", home + "/events?range=all&type=nothing.such", home + "/events/" + event.String(),
		home + "/deliveries", home + "/deliveries?outcome=rejected", home + "/deliveries/" + delivery.String(),
		home + "/endpoints", endpoint, endpoint + "?range=30d", endpoint + "/edit",
		home + "/sources", source, home + "/sources/new",
		home + "/failures", home + "/failures?group=none&since=7d", home + "/failures?state=retrying", home + "/settings", home + "/settings/keys",
		"/accounts", "/me/security", "/instance/accounts", "/instance/mail",
	}, nil
}
