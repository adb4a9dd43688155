package signature

import "testing"

// TestTwitchChallenge: the header alone, which is not signed, makes no event a
// challenge, and neither does the body alone.
func TestTwitchChallenge(t *testing.T) {
	t.Parallel()
	const kind = twitchPrefix + "Message-Type"
	for name, c := range map[string]struct{ kind, body, answer string }{
		"challenge":   {"webhook_callback_verification", `{"challenge":"pogchamp"}`, "pogchamp"},
		"header only": {"webhook_callback_verification", `{"event":{}}`, ""},
		"body only":   {"notification", `{"challenge":"pogchamp"}`, ""},
		"revocation":  {"revocation", `{"subscription":{"status":"user_removed"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := twitch.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
			r.Body = []byte(c.body)
			r.Header.Set(kind, c.kind)
			if err := twitch.Sign(&r, Settings{}, "s3cret"); err != nil {
				t.Fatal(err)
			}
			verified, err := twitch.Verify(r, Settings{}, liveSecrets("s3cret"))
			if err != nil {
				t.Fatal(err)
			}
			if c.answer == "" {
				if verified.Handshake != nil || len(verified.Events) != 1 || verified.Events[0].Key != "0001" {
					t.Errorf("got %+v, want an event", verified)
				}
				return
			}
			hello := verified.Handshake
			if hello == nil || hello.Answer.Body != c.answer || hello.Answer.ContentType != "text/plain" || len(verified.Events) > 0 {
				t.Errorf("got %+v, want the challenge echoed", verified)
			}
		})
	}
}
