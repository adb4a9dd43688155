package signature

import "testing"

// TestLinearTime: a body is proven before its time is looked at, and then has
// to have one.
func TestLinearTime(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"action":"create"}`, "no JSON", ""} {
		r := linear.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
		r.Body = []byte(body)
		if err := linear.Sign(&r, Settings{}, "s3cret"); err != nil {
			t.Fatal(err)
		}
		_, err := linear.Verify(r, Settings{}, liveSecrets("another"))
		_ = wantRefusal(t, err, CodeMismatch, "s3cret")
		_, err = linear.Verify(r, Settings{}, liveSecrets("s3cret"))
		_ = wantRefusal(t, err, CodeMalformed, "s3cret")
	}
}
