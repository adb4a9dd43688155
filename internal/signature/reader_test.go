package signature

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// longList is a body that has the first event of another one n times. A sample
// whose body is no list gets one.
func longList(t testing.TB, p *provider, body []byte, n int) []byte {
	t.Helper()
	parts, ok := splitList(body, reading(p).list.names)
	if !ok {
		parts = listParts{body: []byte("[]"), elements: [][]byte{[]byte(`{"id":"1"}`)}, first: 1, last: 1}
	}
	many := bytes.Repeat(append(bytes.Clone(parts.elements[0]), ','), n)
	return parts.alone(many[:len(many)-1])
}

// TestRequestIsReadOnce: what the events of a list look up in the request around
// them was read for all of them. Whoever reads it again does not find the marks.
func TestRequestIsReadOnce(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, scheme := range schemes {
		p, ok := scheme.(*provider)
		if !ok || reading(p).list == nil {
			continue
		}
		r := p.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
		r.Body = longList(t, p, r.Body, MaxEvents)
		in := newInput(r)
		before := reading(p).read(in)
		if len(before) != MaxEvents {
			t.Fatalf("%s: %d events", p.info.Kind, len(before))
		}
		for name := range in.members {
			in.members[name] = json.RawMessage(`"marked"`)
		}
		for name := range in.form {
			in.form[name] = []string{"marked"}
		}
		in.form = url.Values{"MessageStatus": {"marked"}}
		for i, event := range reading(p).read(in) {
			switch {
			case event.Type == "marked":
				looked++
			case event.Type != before[i].Type || event.Key != before[i].Key:
				t.Fatalf("%s: event %d is %+v, and was %+v", p.info.Kind, i, event, before[i])
			}
		}
	}
	if looked != 2*MaxEvents {
		t.Errorf("%d events look at what is around them, want those of Meta and of Twilio", looked)
	}
}

// TestCompressedLists: a list that came compressed is taken apart, and each of
// its events is compressed as the headers say.
func TestCompressedLists(t *testing.T) {
	t.Parallel()
	for list, bodies := range map[string][]string{
		`[{"sg_event_id":"a","event":"open"},{"sg_event_id":"b","event":"open"}]`: {`[{"sg_event_id":"a","event":"open"}]`, `[{"sg_event_id":"b","event":"open"}]`},
		`[{"sg_event_id":"a","event":"open"}]`:                                    {`[{"sg_event_id":"a","event":"open"}]`},
	} {
		r := Request{Header: http.Header{"Content-Encoding": {"gzip"}}, Body: []byte(gzipped(list))}
		events := sendgrid.Unproven(r, Settings{})
		if len(events) != len(bodies) {
			t.Fatalf("%s: %d events", list, len(events))
		}
		for i, event := range events {
			packed, err := gzip.NewReader(bytes.NewReader(event.Body))
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(packed); err != nil || string(text) != bodies[i] || event.Key != string("ab"[i]) || event.Type != "open" {
				t.Errorf("%s: event %d has %q, %v, %+v", list, i, text, err, event)
			}
		}
		if len(events) == 1 && !bytes.Equal(events[0].Body, r.Body) {
			t.Error("a request of one event is not stored as it came")
		}
	}
}

// TestCompressedBodies: ids, keys and types are read in the text of a compressed
// body, and the bytes are what is signed.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	secret := "whsec_test_secret"
	packed := gzipped(`{"id":"evt_1","type":"order.created"}`)
	large := gzipped(`{"id":"evt_1","text":"` + strings.Repeat("a", 1<<20) + `"}`)
	for name, c := range map[string]struct{ encoding, body, key string }{
		"gzip":           {"gzip", packed, "evt_1"},
		"in capitals":    {" GZIP", packed, "evt_1"},
		"not said":       {"", packed, ""},
		"another":        {"br", packed, ""},
		"several":        {"gzip, gzip", packed, ""},
		"no gzip at all": {"gzip", `{"id":"evt_1"}`, "evt_1"},
		"cut":            {"gzip", packed[:len(packed)-6], ""},
		"more after it":  {"gzip", packed + "x", ""},
		"made large":     {"gzip", large, ""},
	} {
		r := Request{Method: http.MethodPost, Header: http.Header{"Content-Encoding": {c.encoding}}, Body: []byte(c.body), Now: testNow}
		if err := stripe.Sign(&r, Settings{}, secret); err != nil {
			t.Fatal(err)
		}
		verified, err := stripe.Verify(r, Settings{}, liveSecrets(secret))
		if err != nil || len(verified.Events) != 1 || verified.Events[0].Key != c.key || verified.Events[0].Body != nil {
			t.Errorf("%s: %+v, %v, want the key %q", name, verified.Events, err, c.key)
		}
	}
}

// TestSignedValuesInBodies: where a body is open but for some values in it, no
// bit of these can change.
func TestSignedValuesInBodies(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		body  string
		paths []string
	}{
		"adyen": {
			`{"notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":""},"amount":{"currency":"EUR","value":1000},"eventCode":"CAPTURE","merchantAccountCode":"Shop","merchantReference":"order:1","originalReference":"A1","pspReference":"B2","success":"true"}}]}`,
			[]string{
				"notificationItems.0.NotificationRequestItem.pspReference", "notificationItems.0.NotificationRequestItem.originalReference",
				"notificationItems.0.NotificationRequestItem.merchantAccountCode", "notificationItems.0.NotificationRequestItem.merchantReference",
				"notificationItems.0.NotificationRequestItem.amount.value", "notificationItems.0.NotificationRequestItem.amount.currency",
				"notificationItems.0.NotificationRequestItem.eventCode", "notificationItems.0.NotificationRequestItem.success",
			},
		},
		"mailgun":         {string(mailgun.Sample("", "0001", testNow).Body), []string{"signature.timestamp", "signature.token"}},
		"microsoft_graph": {string(microsoftGraph.Sample("", "0001", testNow).Body), []string{"value.0.clientState"}},
	}
	for _, s := range senders(t) {
		if s.header(t) != "" {
			continue
		}
		c, ok := cases[s.Info().Kind]
		if !ok {
			t.Fatalf("%s has its signature in the body, and is not tried", s.name)
		}
		r := s.signed(t, c.body)
		if _, err := s.verify(r, s.secret); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for _, path := range c.paths {
			from, to := placeOf(t, r.Body, path)
			for bit := from * 8; bit < to*8; bit++ {
				flipped := r
				flipped.Body = bytes.Clone(r.Body)
				flipped.Body[bit/8] ^= 1 << (bit % 8)
				if verified, err := s.verify(flipped, s.secret); err == nil {
					t.Errorf("%s: bit %d of %s can change: %+v", s.name, bit-from*8, path, verified)
				}
			}
		}
	}
}

// placeOf finds where a value stands in JSON; 0 is the first of a list.
func placeOf(t *testing.T, body []byte, path string) (from, to int) {
	t.Helper()
	to = len(body)
	for name := range strings.SplitSeq(path, ".") {
		if name == "0" {
			parts, _ := elementsOf(body, from, to)
			from, to = parts.first, parts.first+len(parts.elements[0])
			continue
		}
		var ok bool
		if from, to, ok = memberOf(body, from, to, name); !ok {
			t.Fatal(fmt.Errorf("%s is not there", path))
		}
	}
	return from, to
}
