// Package settings reads what a source chose: the choices that every kind of
// source has, and apart from them those of its scheme.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// maxSize bounds the settings of a source, in bytes: far above any need.
	maxSize = 16 << 10

	fieldTolerance = "tolerance"
)

// Split reads the settings of a source: a JSON object, or nothing. Its
// "tolerance", a duration such as "5m" that a signed time may be away from
// ours, is for every kind; the rest is the scheme's own, left in Raw as it
// came. The error is a gateway.InvalidError.
func Split(raw json.RawMessage) (signature.Settings, error) {
	var chosen signature.Settings
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return chosen, nil
	}
	if len(raw) > maxSize {
		return chosen, gateway.Invalid("settings", "want at most %d bytes", maxSize)
	}
	members, err := membersOf(raw)
	if err != nil {
		return chosen, err
	}
	own := members[:0]
	seen := false
	for _, m := range members {
		switch {
		case m.name != fieldTolerance:
			own = append(own, m)
			continue
		case seen:
			return chosen, gateway.Invalid("settings", "%q is given twice", fieldTolerance)
		}
		seen = true
		if chosen.Tolerance, err = parseTolerance(m.value); err != nil {
			return chosen, err
		}
	}
	chosen.Raw = objectOf(own)
	return chosen, nil
}

// Check tells whether a source of the scheme may be saved with these settings.
// The error is a gateway.InvalidError.
func Check(scheme signature.Scheme, raw json.RawMessage) error {
	chosen, err := Split(raw)
	if err != nil {
		return err
	}
	if err := scheme.CheckSettings(chosen.Raw); err != nil {
		return gateway.Invalid("settings", "%s", err)
	}
	return nil
}

func parseTolerance(value json.RawMessage) (time.Duration, error) {
	if string(value) == "null" {
		return 0, nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return 0, gateway.Invalid("settings", "%q is not a duration such as %q", fieldTolerance, "5m")
	}
	tolerance, err := time.ParseDuration(text)
	if err != nil || tolerance < MinTolerance || tolerance > MaxTolerance {
		return 0, gateway.Invalid("settings", "%q is not a duration from %s to %s", fieldTolerance, MinTolerance, MaxTolerance)
	}
	return tolerance, nil
}

// member is one name and value of a JSON object. Unlike in a map, their order
// stays and one that is repeated can be seen.
type member struct {
	name  string
	value json.RawMessage
}

var errNotObject = gateway.Invalid("settings", "want one JSON object")

func membersOf(raw json.RawMessage) ([]member, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, errNotObject
	}
	var members []member
	for decoder.More() {
		var m member
		name, err := decoder.Token()
		if err != nil {
			return nil, errNotObject
		}
		m.name, _ = name.(string) // between braces nothing else can stand
		if err := decoder.Decode(&m.value); err != nil {
			return nil, errNotObject
		}
		members = append(members, m)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errNotObject
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotObject
	}
	return members, nil
}

// objectOf writes members as an object; none at all is no settings.
func objectOf(members []member) json.RawMessage {
	if len(members) == 0 {
		return nil
	}
	var out bytes.Buffer
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(m.name) // a string can always be written
		fmt.Fprintf(&out, "%s:%s", name, m.value)
	}
	return json.RawMessage("{" + out.String() + "}")
}
