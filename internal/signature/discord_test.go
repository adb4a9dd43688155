package signature

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestDiscordTime: digits that go over from the time to the body, or back, make
// another request of the same signed text.
func TestDiscordTime(t *testing.T) {
	t.Parallel()
	public, private := discord.NewPair()
	for name, c := range map[string]struct {
		moved int
		late  time.Duration
		code  string
	}{
		"as signed":         {0, 0, ""},
		"within tolerance":  {0, DefaultTolerance, ""},
		"too old":           {0, DefaultTolerance + time.Second, CodeTimestamp},
		"digits moved":      {3, 0, CodeMalformed},
		"digits moved back": {-1, 0, CodeMalformed},
	} {
		r := Request{Header: http.Header{}, Body: []byte(`0123`), Now: testNow}
		if err := discord.Sign(&r, Settings{}, private); err != nil {
			t.Fatal(err)
		}
		text := r.Header.Get("X-Signature-Timestamp") + string(r.Body)
		cut := len(text) - len(r.Body) - c.moved
		r.Header.Set("X-Signature-Timestamp", text[:cut])
		r.Body, r.Now = []byte(text[cut:]), r.Now.Add(c.late)
		for _, tolerance := range []time.Duration{0, AnyTime} {
			_, err := discord.Verify(r, Settings{Tolerance: tolerance}, liveSecrets(public))
			if c.code == "" || tolerance == AnyTime && c.code == CodeTimestamp {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if refusal := wantRefusal(t, err, c.code); !strings.Contains(refusal.Error(), "time") {
				t.Errorf("%s: %v", name, refusal)
			}
		}
	}
}
