package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/receiver"
)

const (
	// flakiness is the share of requests that analytics fails.
	flakiness = 0.25
	// analyticsDelay and riskDelay are how long their answers take.
	analyticsDelay, riskDelay = 120 * time.Millisecond, 700 * time.Millisecond
	// headersWithin bounds how long the headers of a request may take.
	headersWithin = 5 * time.Second
	// downFrom and downUntil are when the CRM is down, in each round of downEvery.
	downFrom, downUntil, downEvery = 15 * time.Second, 40 * time.Second, 2 * time.Minute
	// newCurrency is one of which the CRM has to learn: it refuses the first attempt.
	newCurrency = "SEK"
)

// Receive is the receiver's process: it reads what it has to know from in, says on
// out where it listens, and receives until in ends. An interrupt is for who started
// it, and no end of its own.
func Receive(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	lines := json.NewDecoder(in)
	var first order
	if err := lines.Decode(&first); err != nil {
		cancel()
		return fmt.Errorf("read the secret: %w", err)
	}
	w := &works{since: time.Now()}
	handler, err := w.handler(first.Secret)
	if err != nil {
		cancel()
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headersWithin, BaseContext: func(net.Listener) context.Context { return ctx }}
	var all sync.WaitGroup
	all.Go(func() { _ = server.Serve(listener) }) // it ends by Close
	defer func() {
		cancel()
		err = errors.Join(err, server.Close())
		all.Wait()
	}()
	address, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return fmt.Errorf("read the own address: %w", err)
	}
	if err := json.NewEncoder(out).Encode(standing{address}); err != nil {
		return fmt.Errorf("say where it listens: %w", err)
	}
	return w.follow(ctx, lines, &all)
}

// follow takes what it is told until there is no more.
func (w *works) follow(ctx context.Context, lines *json.Decoder, all *sync.WaitGroup) error {
	for {
		var j job
		switch err := lines.Decode(&j); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read what to do: %w", err)
		}
		api, err := client.New(j.Server, j.Key)
		if err != nil {
			return err
		}
		w.mail.employ(api)
		all.Go(func() { invoice(ctx, api) })
	}
}

// works are what receives.
type works struct {
	since time.Time
	mail  mails
}

// handler is a receiver for each path.
func (w *works) handler(secret string) (http.Handler, error) {
	mux := http.NewServeMux()
	for path, o := range map[string]receiver.Options{
		billing:   {},
		analytics: {FailRate: flakiness, Delay: analyticsDelay},
		mailer:    {Answer: w.mail.answer},
		crm:       {Answer: w.takeOrder},
		risk:      {Delay: riskDelay},
		search:    {Status: http.StatusGone},
		warehouse: {},
	} {
		o.Secret, o.Out = secret, io.Discard
		r, err := receiver.New(o)
		if err != nil {
			return nil, err
		}
		mux.Handle("/"+path, r)
	}
	return mux, nil
}

// takeOrder is the CRM's answer.
func (w *works) takeOrder(q *http.Request, body []byte) int {
	var o struct {
		Total    float64 `json:"total"`
		Currency string  `json:"currency"`
	}
	now := time.Since(w.since) % downEvery
	switch {
	case now > downFrom && now < downUntil:
		return http.StatusServiceUnavailable
	case json.Unmarshal(body, &o) != nil, o.Total == 0, o.Currency == newCurrency && q.Header.Get("Rowlock-Attempt") == "1":
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}
