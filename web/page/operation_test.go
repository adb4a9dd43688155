package page_test

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// What was stopped says what went back, if anything did.
func TestStoppedOperation(t *testing.T) {
	t.Parallel()
	for restored, want := range map[int]string{
		0: "Stopped by Ann.",
		1: "Stopped by Ann. 1 delivery that was not tried yet went back to what it was.",
		7: "Stopped by Ann. 7 deliveries that were not tried yet went back to what they were.",
	} {
		v := page.Operation{Frame: framed(), Now: noon, StoppedBy: "Ann", Operation: gateway.Operation{
			Kind: gateway.OperationRecoverFailed, State: gateway.OperationCancelled, Total: 9, Done: 8, Restored: restored, CreatedAt: noon, SettledAt: &noon,
		}}
		notes := drawn(t, page.OperationPage(v)).Find("#operation .card-foot").Text()
		if text := strings.Join(strings.Fields(notes), " "); !strings.Contains(text, want) || restored == 0 && strings.Contains(text, "went back") {
			t.Errorf("%d went back: %s", restored, text)
		}
	}
}
