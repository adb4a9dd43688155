package server_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkPublish measures one published event through the whole server.
func BenchmarkPublish(b *testing.B) {
	s := newBundle(b)
	n := s.newTenant(b)
	body := `{"type":"order.created","data":{"text":"` + strings.Repeat("x", 1000) + `"}}`
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.url+"/api/v1/events", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			request.Header.Set("Authorization", "Bearer "+n.key)
			response, err := s.client.Do(request)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode != http.StatusAccepted {
				b.Errorf("status %d", response.StatusCode)
			}
		}
	})
}

// BenchmarkIngest measures a signed push of GitHub's through the whole server,
// over 64 connections, and the 99th percentile of its answers.
func BenchmarkIngest(b *testing.B) {
	s := newBundle(b)
	n := s.newTenant(b)
	address := text(n.must(http.StatusCreated, http.MethodPost, "/sources", `{"name":"Hooks","kind":"github","secret":"s3cret"}`), "ingest_url")
	body := `{"ref":"refs/heads/main","text":"` + strings.Repeat("x", 8000) + `"}`
	signature := sign("s3cret", body)
	var sent atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var senders sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range 64 {
		senders.Go(func() {
			var mine []time.Duration
			for i := sent.Add(1); i <= int64(b.N); i = sent.Add(1) {
				since := time.Now()
				got := s.send(b, http.MethodPost, address, body, "X-Github-Event", "push", "X-Github-Delivery", fmt.Sprint(i), "X-Hub-Signature-256", signature)
				mine = append(mine, time.Since(since))
				if got.StatusCode != http.StatusOK {
					b.Errorf("status %d", got.StatusCode)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	senders.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100])/float64(time.Millisecond), "p99-ms")
}
