package gateway_test

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestCheckChain(t *testing.T) {
	t.Parallel()
	ids := make([]gateway.EndpointID, 7)
	for i := range ids {
		ids[i][15] = byte(i + 1)
	}
	chain := func(behind int, of ...int) (links []gateway.ChainLink) {
		for _, i := range of {
			links = append(links, gateway.ChainLink{ID: ids[i], Name: string(rune('a' + i)), Behind: behind})
		}
		return links
	}
	for name, c := range map[string]struct {
		links []gateway.ChainLink
		why   string
	}{
		"nobody":             {nil, "names no endpoint of this account"},
		"one":                {chain(1, 1), ""},
		"as long as can be":  {chain(1, 1, 2, 3, 4), ""},
		"too long ahead":     {chain(1, 1, 2, 3, 4, 5), "more than 5 endpoints"},
		"too long with both": {chain(3, 1, 2, 3), "more than 5 endpoints"},
		"a loop":             {chain(1, 1, 2, 0), "would make a loop: a → b → c → a"},
	} {
		err := gateway.CheckChain(c.links, ids[0])
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

func TestChainName(t *testing.T) {
	t.Parallel()
	uid := "billing"
	for _, c := range []struct {
		uid                        *string
		description, address, want string
	}{
		{&uid, " Bills\nand more", "https://example.com/x?y", "Bills"},
		{&uid, "", "https://example.com/x?y", "billing"},
		{nil, "", "https://example.com/x?y", "example.com/x"},
		{nil, strings.Repeat("ä", 50), "", strings.Repeat("ä", 40) + "…"},
	} {
		if got := gateway.ChainName(c.uid, c.description, c.address); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
