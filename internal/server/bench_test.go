package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
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
