package signature

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func BenchmarkSign(b *testing.B) {
	for _, version := range []gateway.SignatureVersion{gateway.SignatureHMAC, gateway.SignatureEd25519} {
		keys := []SigningKey{NewSigningKey(version)}
		for _, size := range []int{512, 4 << 10, 1 << 20} {
			body := bytes.Repeat([]byte("a"), size)
			b.Run(fmt.Sprintf("%s/%dB", version, size), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					Sign(keys, "evt_01jz3k7q4c8x9w2m5n6p7r8s9t", 1_760_000_000, body)
				}
			})
		}
	}
}

// BenchmarkReadList reads the longest list that is taken apart, of each kind that
// sends lists.
func BenchmarkReadList(b *testing.B) {
	for _, scheme := range schemes {
		p, ok := scheme.(*provider)
		if !ok || reading(p).list == nil {
			continue
		}
		r := p.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
		r.Body = longList(b, p, r.Body, MaxEvents)
		b.Run(p.info.Kind, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(r.Body)))
			for b.Loop() {
				if events := p.Unproven(r, Settings{}); len(events) != MaxEvents {
					b.Fatalf("%d events", len(events))
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	body := `{"id":"evt_1","type":"order.created","data":{"text":"` + string(bytes.Repeat([]byte("a"), 2<<10)) + `"}}`
	for _, s := range senders(b) {
		b.Run(s.name, func(b *testing.B) {
			if s.Info().BodyOpen {
				b.Skip("its body holds the signature, or is not signed")
			}
			r := s.signed(b, body)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.verify(r, s.secret); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
