package signature

import "testing"

// TestXeroEvents: types say what and how, and a key needs all of its parts.
func TestXeroEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, key, kind string }{
		"whole":       {`{"tenantId":"t","resourceId":"r","eventType":"UPDATE","eventDateUtc":"d","eventCategory":"INVOICE"}`, "t:r:UPDATE:d", "INVOICE.UPDATE"},
		"no category": {`{"tenantId":"t","resourceId":"r","eventType":"UPDATE","eventDateUtc":"d"}`, "t:r:UPDATE:d", ""},
		"no time":     {`{"tenantId":"t","resourceId":"r","eventType":"UPDATE","eventCategory":"INVOICE"}`, "", "INVOICE.UPDATE"},
		"no change":   {`{"eventCategory":"INVOICE"}`, "", "INVOICE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := takenBody(t, xero, `{"events":[`+c.event+`],"entropy":"x"}`).Events
			if len(events) != 1 || events[0].Key != c.key || events[0].Type != c.kind || events[0].ID != "" {
				t.Errorf("got %+v", events)
			}
		})
	}
}
