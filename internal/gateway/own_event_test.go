package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestFailingPercent(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]map[int]int{
		1:   {},
		2:   {1: 50},
		3:   {2: 50},
		10:  {5: 50, 7: 70, 9: 90},
		100: {50: 50, 70: 70, 90: 90},
		101: {51: 50, 71: 70, 91: 90},
	} {
		got := map[int]int{}
		for n := range 2 * limit {
			if percent := gateway.FailingPercent(n, limit); percent != 0 {
				got[n] = percent
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
}

func TestPlainURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://example.com/a%2Fb/c?token=x#y": "https://example.com/a%2Fb/c",
		"https://user:pass@example.com:8443/":   "https://example.com:8443/",
		"https://example.com/a\r\nb":            "",
		"example.com":                           "",
		"::":                                    "",
		"":                                      "",
	} {
		if got := gateway.PlainURL(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOwnTypes(t *testing.T) {
	t.Parallel()
	for name, alert := range map[string]bool{
		gateway.TypeEndpointFailing: true, gateway.TypeEndpointDisabled: true, gateway.TypeDeliveryExpired: true, gateway.TypeOperationDone: true,
		gateway.TypeClaimDoubtful:  true,
		gateway.TypeDeliveryFailed: false, gateway.TypeTest: false,
	} {
		if gateway.IsAlert(name) != alert || !strings.HasPrefix(name, gateway.OwnTypePrefix) || !gateway.ValidEventType(name) {
			t.Errorf("%s: %t", name, gateway.IsAlert(name))
		}
	}
}
