package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rowlock/rowlock/internal/bench/served"
)

const (
	// askEvery is how often the balancer asks each node whether it is ready.
	askEvery = 200 * time.Millisecond
	// answerWithin is how long a node may take to say so.
	answerWithin = time.Second
)

// balancer hands each request to the next node that is ready, once.
type balancer struct {
	*httptest.Server

	behind []*behind
	turn   atomic.Uint64
	stop   context.CancelFunc
	asking sync.WaitGroup
}

// behind is a node as the balancer sees it.
type behind struct {
	url   string
	proxy *httputil.ReverseProxy
	ready atomic.Bool
}

// balance begins to ask the nodes, and to hand requests on to them.
func balance(ctx context.Context, nodes []*served.Server) (*balancer, error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	b := &balancer{stop: stop}
	for _, node := range nodes {
		to, err := url.Parse(node.URL)
		if err != nil {
			stop()
			return nil, err
		}
		one := &behind{url: node.URL, proxy: &httputil.ReverseProxy{
			Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
			Transport: &http.Transport{MaxIdleConnsPerHost: connections},
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
				w.WriteHeader(http.StatusBadGateway)
			},
		}}
		b.behind = append(b.behind, one)
		b.asking.Go(func() { one.ask(ctx) })
	}
	b.Server = httptest.NewServer(http.HandlerFunc(b.hand))
	return b, nil
}

func (b *balancer) close() {
	b.stop()
	b.asking.Wait()
	b.Close()
	for _, one := range b.behind {
		if t, ok := one.proxy.Transport.(*http.Transport); ok {
			t.CloseIdleConnections()
		}
	}
}

// hand hands a request on.
func (b *balancer) hand(w http.ResponseWriter, r *http.Request) {
	first := b.turn.Add(1)
	for i := range uint64(len(b.behind)) {
		if one := b.behind[(first+i)%uint64(len(b.behind))]; one.ready.Load() {
			one.proxy.ServeHTTP(w, r)
			return
		}
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

func (b *balancer) allReady() bool {
	for _, one := range b.behind {
		if !one.ready.Load() {
			return false
		}
	}
	return true
}

// ask asks a node again and again whether it is ready, until ctx ends.
func (n *behind) ask(ctx context.Context) {
	client := &http.Client{Timeout: answerWithin}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		n.ready.Store(isReady(ctx, client, n.url))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func isReady(ctx context.Context, client *http.Client, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // its status is all
	return answer.StatusCode == http.StatusOK
}
