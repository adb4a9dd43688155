package signature

import (
	"bytes"
	"testing"
)

func TestDecoders(t *testing.T) {
	t.Parallel()
	raw := []byte{0, 255, 16}
	if got, ok := decodeHex("00fF10", 3); !ok || !bytes.Equal(got, raw) {
		t.Errorf("hex: %v, %v", got, ok)
	}
	if got, ok := decodeBase64("AP8Q", 3); !ok || !bytes.Equal(got, raw) {
		t.Errorf("base64: %v, %v", got, ok)
	}
	for _, text := range []string{"", "00ff1", "00ff1g", "00ff1000", " 0ff10", "00ff1é"} {
		if _, ok := decodeHex(text, 3); ok {
			t.Errorf("hex %q is accepted", text)
		}
	}
	for _, text := range []string{"", "AP8", "AP8=", "AP8QAA==", "AP_Q", "A\nP8", "é8Q"} {
		if _, ok := decodeBase64(text, 3); ok {
			t.Errorf("base64 %q is accepted", text)
		}
	}
}
