package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/load/burst"
	"github.com/rowlock/rowlock/internal/bench/served"
)

// measureServer sends pushes to a source of the program, which decides them
// meanwhile; no endpoint takes them.
func measureServer(ctx context.Context, pool *pgxpool.Pool, o bench.Options, p push) (b burst.Burst, err error) {
	server, err := served.Start(ctx, o.URL)
	if err != nil {
		return burst.Burst{}, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	key, err := server.Account(ctx, "ingest")
	if err != nil {
		return burst.Burst{}, err
	}
	client, transport := newClient()
	defer transport.CloseIdleConnections()
	address, err := makeSource(ctx, client, server.URL, key)
	if err != nil {
		return burst.Burst{}, err
	}
	b, err = burst.Warm(ctx, connections, o.Runs, func(ctx context.Context, _, n int) error {
		text, err := p.post(ctx, client, address, n)
		if err != nil {
			return err
		}
		return isNew(text)
	})
	if err != nil {
		return burst.Burst{}, err
	}
	return b, areStored(ctx, pool, p, o.Runs+burst.WarmUps(connections))
}

// makeSource makes a source for the pushes, and returns its address.
func makeSource(ctx context.Context, client *http.Client, base, key string) (string, error) {
	body := fmt.Sprintf(`{"name":"Pushes","kind":"github","secret":%q}`, pushSecret)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/v1/sources", bytes.NewReader([]byte(body)))
	if err != nil {
		return "", fmt.Errorf("make a source: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("make a source: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", fmt.Errorf("make a source: %w", err)
	}
	if answer.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("make a source: %w: %s %s", burst.ErrUnexpected, answer.Status, text)
	}
	var made struct {
		Address string `json:"ingest_url"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return "", fmt.Errorf("make a source: %w", err)
	}
	return made.Address, nil
}

// isNew tells whether the answer to a push is about a new event.
func isNew(answer []byte) error {
	var got struct {
		ID        string
		Duplicate *bool
	}
	err := json.Unmarshal(answer, &got)
	if err != nil || got.ID == "" || got.Duplicate == nil || *got.Duplicate {
		return fmt.Errorf("read the answer to a push: %w: %s", burst.ErrUnexpected, answer)
	}
	return nil
}

// areStored tells whether the pushes that were answered are events, with their
// bodies byte for byte.
func areStored(ctx context.Context, pool *pgxpool.Pool, p push, want int) error {
	const count = `
		SELECT count(*) FROM events e
		JOIN event_bodies b ON b.id = e.id
		JOIN sources s ON s.id = e.source_id
		WHERE s.kind = 'github' AND b.body = $1`
	var got int
	if err := pool.QueryRow(ctx, count, p.body).Scan(&got); err != nil {
		return fmt.Errorf("count the events: %w", err)
	}
	if got != want {
		return fmt.Errorf("count the events: %w: %d of %d pushes", burst.ErrUnexpected, got, want)
	}
	return nil
}
