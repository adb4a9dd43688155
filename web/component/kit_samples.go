package component

import (
	"strings"
	"time"
)

// kitNow is the time that samples are relative to.
var kitNow = time.Date(2026, time.November, 29, 16, 22, 29, 114e6, time.UTC)

// hostile are texts that outsiders could send to deceive a reader or a
// browser.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	"invoice\u202Egnp.exe",
	"pay\u200Bpal.example",
	"NUL \x00, bell \x07, escape \x1b[31m",
	"not UTF-8: \xff\xfe",
	"two\nlines\tand a tab",
	"javascript:alert(1)",
	"Łukasz Żółć, 株式会社, עברית, العربية, 👩‍💻",
	strings.Repeat("long", 60),
}

// kitJSON is a body as sources send it, with something hostile in it.
const kitJSON = `{"id":"evt_1SYc8pKQ2mZxT9","type":"checkout.session.completed","created":1795969208,"livemode":true,` +
	`"amount":86.40,"big":12345678901234567890,"empty":{},"none":null,"list":[1,2.5e-3,-7],"escaped":"\u202e\"quoted\"",` +
	"\"raw\":\"bidi \u202Ehere\",\"html\":\"<script>alert(1)</script>\"}"

// kitBins are a day in pieces of fifteen minutes, with an incident in it.
func kitBins() []Bin {
	const pieces = 96
	start := kitNow.Truncate(15 * time.Minute).Add(-24 * time.Hour)
	bins := make([]Bin, 0, pieces)
	for i := range pieces {
		swing := (i*37%97 + i*i%53) * 3
		b := Bin{Label: start.Add(time.Duration(i)*15*time.Minute).Format("15:04") + " UTC", OK: 900 + 6*i + swing, Retry: swing / 12}
		if i > 72 && i < 82 {
			b.OK, b.Retry, b.Bad = b.OK-400, 260+swing, 180+swing/2
		}
		bins = append(bins, b)
	}
	return bins
}

// kitStates are all states that badges have, in the order of the table they
// belong to.
var kitStates = []struct {
	title  string
	states []string
}{
	{"Events", []string{"accepted", "processed", "ignored", "duplicate_fact", "stale_fact", "rule_error", "unresolved", "no_endpoints", "held"}},
	{"Deliveries", []string{"pending", "sending", "retrying", "held", "delivered", "failed", "suppressed", "cancelled", "expired"}},
	{"Attempts", []string{"succeeded", "rejected", "unreachable", "unknown"}},
	{"Endpoints and sources", []string{"active", "degraded", "failing", "paused", "disabled"}},
	{"Claims", []string{"in_progress", "lease_ended", "done", "released"}},
	{"Secrets and keys", []string{"current", "previous", "ended", "revoked"}},
	{"Requests", []string{"verified", "none", "duplicate", "signature_missing", "signature_malformed", "signature_mismatch", "timestamp_out_of_range", "address_not_allowed", "body_replayed", "handshake"}},
	{"Not known", []string{"some_new_state", ""}},
}

// kitSnippets are examples in each language.
var kitSnippets = map[string]string{
	"go":         "body, err := io.ReadAll(r.Body)\nif err != nil {\n\treturn err // 500\n}\nwh, err := standardwebhooks.NewWebhook(\"whsec_…\")\nif wh.Verify(body, r.Header) != nil {\n\thttp.Error(w, \"bad signature\", 401)\n}",
	"javascript": "import { Webhook } from \"standardwebhooks\";\nconst wh = new Webhook(process.env.SECRET);\nwh.verify(body, headers); // throws\n",
	"python":     "from standardwebhooks import Webhook\n\nwh = Webhook(SECRET)\nevent = wh.verify(body, headers)  # raises\n",
	"shell":      "# your key is shown once, in Settings → API keys\ncurl https://hooks.example.com/api/v1/events \\\n  -H \"Authorization: Bearer $ROWLOCK_KEY\" \\\n  -d '{\"type\":\"demo.hello\",\"data\":{\"n\":1}}'\n",
}

// kitTicks are the last attempts of an endpoint.
func kitTicks(pattern string) []string {
	names := map[rune]string{'o': "ok", 'b': "bad", 'w': "warn", 'n': "none"}
	states := make([]string, 0, len(pattern))
	for _, r := range pattern {
		states = append(states, names[r])
	}
	return states
}
