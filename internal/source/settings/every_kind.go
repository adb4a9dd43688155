package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

const (
	// MinTolerance keeps honest clocks, which are a little apart, from being
	// refused.
	MinTolerance = time.Second
	// MaxTolerance is the longest time for which a request that somebody
	// recorded may be worth replaying.
	MaxTolerance = 24 * time.Hour
	// MaxReplayGuard is the shortest time for which keys are remembered: what is
	// forgotten earlier guards nothing.
	MaxReplayGuard = 72 * time.Hour
	// MaxPerSecond is far above what one source can take.
	MaxPerSecond = 100_000
	// MaxAddresses bounds what is compared with each request.
	MaxAddresses = 100
	// maxURL is in bytes.
	maxURL = 2000
)

// The names of the settings that every kind of source has.
const (
	Tolerance   = "tolerance"
	PublicURL   = "public_url"
	RateLimit   = "rate_limit"
	Addresses   = "allowed_ips"
	ReplayGuard = "replay_guard"
)

// Names lists them in the order of the form.
func Names() []string { return []string{Tolerance, PublicURL, RateLimit, Addresses, ReplayGuard} }

// ofEveryKind read the settings that every kind has. Their errors go on
// after the setting's name.
var ofEveryKind = map[string]func(*Chosen, json.RawMessage) error{
	Tolerance: func(c *Chosen, value json.RawMessage) (err error) {
		c.Scheme.Tolerance, err = duration(value, MinTolerance, MaxTolerance)
		return err
	},
	ReplayGuard: func(c *Chosen, value json.RawMessage) (err error) {
		c.ReplayGuard, err = duration(value, time.Second, MaxReplayGuard)
		return err
	},
	PublicURL: func(c *Chosen, value json.RawMessage) (err error) {
		c.PublicURL, err = publicURL(value)
		return err
	},
	RateLimit: func(c *Chosen, value json.RawMessage) (err error) {
		c.PerSecond, err = perSecond(value)
		return err
	},
	Addresses: func(c *Chosen, value json.RawMessage) (err error) {
		c.Addresses, err = prefixes(value)
		return err
	},
}

func duration(value json.RawMessage, least, most time.Duration) (time.Duration, error) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		if d, err := time.ParseDuration(text); err == nil && d >= least && d <= most {
			return d, nil
		}
	}
	return 0, fmt.Errorf("is not a duration from %s to %s, such as \"5m\"", gateway.DurationText(least), gateway.DurationText(most))
}

var errURL = fmt.Errorf("is not an http or https address of at most %d bytes, encoded as it is sent, without a user and a fragment", maxURL)

func publicURL(value json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(value, &text) != nil || len(text) > maxURL || strings.ContainsFunc(text, cannotBeSent) {
		return "", errURL
	}
	address, err := url.Parse(text)
	if err != nil || address.Hostname() == "" || address.User != nil || !slices.Contains([]string{"http", "https"}, address.Scheme) {
		return "", errURL
	}
	return text, nil
}

var errURLQuery = errors.New("has a query, which would be signed in place of the one that each request comes with, and this kind sends GET requests that say all in theirs: leave it out")

// checkURL tells whether a kind can have a public address. One with a query is
// signed as it is, whatever path and query a request comes with.
func checkURL(kind *signature.Info, address string) error {
	if kind.URLSigned && slices.Contains(kind.Methods, http.MethodGet) && strings.Contains(address, "?") {
		return errURLQuery
	}
	return nil
}

// cannotBeSent tells of what no request's address has: a fragment, white space,
// and what is not ASCII. A sender signs these as they are encoded.
func cannotBeSent(r rune) bool { return r <= ' ' || r > '~' || r == '#' }

func perSecond(value json.RawMessage) (int, error) {
	members, err := membersOf(value)
	n := 0
	if err != nil || len(members) != 1 || members[0].name != "per_second" || json.Unmarshal(members[0].value, &n) != nil || n < 1 || n > MaxPerSecond {
		return 0, fmt.Errorf("is not {\"per_second\": n} with n from 1 to %d", MaxPerSecond)
	}
	return n, nil
}

var errPrefixes = errors.New("is not a list of addresses and networks such as \"203.0.113.7\" and \"2001:db8::/32\"")

func prefixes(value json.RawMessage) ([]netip.Prefix, error) {
	var texts []string
	if json.Unmarshal(value, &texts) != nil {
		return nil, errPrefixes
	}
	if len(texts) > MaxAddresses {
		return nil, fmt.Errorf("has more than %d entries", MaxAddresses)
	}
	all := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		p, err := gateway.ParseNetwork(text)
		if err != nil {
			return nil, errPrefixes
		}
		all = append(all, p)
	}
	return all, nil
}
