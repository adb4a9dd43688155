package load

import (
	"bytes"
	"testing"
)

// What a receiver gets is told from what it does not get, byte by byte.
func TestBodiesAreTold(t *testing.T) {
	t.Parallel()
	for _, size := range []int{minBody, minBody + 1, 1024} {
		b := newBody(size)
		for _, n := range []int{0, 7, 123_456_789} {
			data := b.put([]byte("before"), n)[len("before"):]
			if got, ok := b.number(data); !ok || got != n || len(data) != size {
				t.Fatalf("%d of %d bytes: %d, %t", n, size, got, ok)
			}
			for i := range data {
				altered := bytes.Clone(data)
				altered[i] ^= 0x80
				if got, ok := b.number(altered); ok {
					t.Fatalf("altered at %d: taken as %d", i, got)
				}
			}
		}
		if _, ok := b.number(b.put(nil, 1)[1:]); ok {
			t.Error("a body that is cut was taken")
		}
	}
}
