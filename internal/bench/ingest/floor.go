package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/load/burst"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// measureHTTP sends pushes to a handler that reads and verifies them, and no
// more. It runs in this process.
func measureHTTP(ctx context.Context, _ *pgxpool.Pool, o bench.Options, p push) (burst.Burst, error) {
	server := httptest.NewServer(verifier(p.scheme))
	defer server.Close()
	client, transport := newClient()
	defer transport.CloseIdleConnections()
	return burst.Warm(ctx, connections, o.Runs, func(ctx context.Context, _, n int) error {
		_, err := p.post(ctx, client, server.URL, n)
		return err
	})
}

// verifier answers 200 to what is signed, else 401.
func verifier(scheme signature.Scheme) http.Handler {
	secrets := []signature.Secret{{Value: []byte(pushSecret)}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender is gone
		}
		in := signature.Request{Method: r.Method, Header: r.Header, Body: body, Now: time.Now()}
		if _, err := scheme.Verify(in, signature.Settings{}, secrets); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
}

const (
	makeFloor = `CREATE TABLE ingest_floor (id bigint PRIMARY KEY, body bytea NOT NULL)`
	addFloor  = `INSERT INTO ingest_floor (id, body) VALUES ($1, $2)`
	dropFloor = `DROP TABLE ingest_floor`
)

// measureCommits puts the pushes' bodies into a table, each in a transaction and
// from all connections at once, and no more.
func measureCommits(ctx context.Context, pool *pgxpool.Pool, o bench.Options, p push) (b burst.Burst, err error) {
	if _, err := pool.Exec(ctx, makeFloor); err != nil {
		return burst.Burst{}, fmt.Errorf("make a table: %w", err)
	}
	defer func() {
		_, dropped := pool.Exec(context.WithoutCancel(ctx), dropFloor)
		err = errors.Join(err, dropped)
	}()
	wide, err := store.Connect(ctx, o.URL, connections)
	if err != nil {
		return burst.Burst{}, err
	}
	defer wide.Close()
	return burst.Warm(ctx, connections, o.Runs, func(ctx context.Context, _, n int) error {
		_, err := wide.Exec(ctx, addFloor, n, p.body)
		return err
	})
}
