package signature

import (
	"strings"
	"testing"
)

// adyenTried signs items and has them judged after a change.
func adyenTried(t *testing.T, body string, change func(string) string) error {
	t.Helper()
	key := strings.Repeat("AB", 32)
	r := Request{Body: []byte(body), Now: testNow}
	if err := adyen.Sign(&r, Settings{}, key); err != nil {
		t.Fatal(err)
	}
	r.Body = []byte(change(string(r.Body)))
	_, err := adyen.Verify(r, Settings{}, liveSecrets(key))
	return err
}

// TestAdyenValues: values that would be the same text when joined are refused.
func TestAdyenValues(t *testing.T) {
	t.Parallel()
	const item = `{"notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":""},"amount":{"currency":"EUR","value":1000},"eventCode":"CAPTURE","merchantAccountCode":"Shop","merchantReference":"a:b","pspReference":"B2","success":"true"}}]}`
	for name, c := range map[string]struct{ old, new, code string }{
		"as signed":              {"", "", ""},
		"null for nothing":       {`"success"`, `"originalReference":null,"success"`, ""},
		"colon moved to another": {`"merchantAccountCode":"Shop","merchantReference":"a:b"`, `"merchantAccountCode":"Shop:a","merchantReference":"b"`, CodeMalformed},
		"colon in front":         {`"merchantAccountCode":"Shop","merchantReference":"a:b","pspReference":"B2"`, `"merchantAccountCode":"a","merchantReference":"b","pspReference":"B2::Shop"`, CodeMalformed},
		"a truth for nothing":    {`"success"`, `"originalReference":true,"success"`, CodeMalformed},
		"a fraction for nothing": {`"success"`, `"originalReference":1.5,"success"`, CodeMalformed},
	} {
		err := adyenTried(t, item, func(body string) string { return strings.Replace(body, c.old, c.new, 1) })
		if c.code == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.code != "" {
			t.Log(name)
			_ = wantRefusal(t, err, c.code)
		}
	}
}

// An item is taken apart once, however many values are read of it: nobody has
// proven it yet. It counts allocations, and so is not parallel.
func TestAdyenReadsAnItemOnce(t *testing.T) {
	item := `{"pspReference":"A","additionalData":{"hmacSignature":"x"}` + strings.Repeat(`,"a":1`, 10_000) + `}`
	element := []byte(`{"NotificationRequestItem":` + item + `}`)
	once := testing.AllocsPerRun(1, func() { topLevel([]byte(item)) })
	all := testing.AllocsPerRun(1, func() { _, _ = adyenRead(element) })
	if all > 1.5*once {
		t.Errorf("%g allocations to read an item, %g to take it apart", all, once)
	}
}
