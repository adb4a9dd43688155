package egress_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The two benchmarks post the same body to the same kind of receiver over
// kept connections; their ratio is what vetting, tracing and bounds cost.

func BenchmarkSend(b *testing.B) {
	c, url := site(b, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	body := strings.Repeat("x", 1<<10)
	b.ReportAllocs()
	for b.Loop() {
		post(b, c, url, body)
	}
}

func BenchmarkBareClient(b *testing.B) {
	_, url := site(b, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	client := &http.Client{Transport: &http.Transport{Proxy: nil}}
	b.Cleanup(client.CloseIdleConnections)
	body := bytes.Repeat([]byte("x"), 1<<10)
	b.ReportAllocs()
	for b.Loop() {
		resp, err := client.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}
