// Package settings reads what a source chose: the choices that every kind of
// source has, and apart from them those of its scheme.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// maxSize bounds the settings of a source, in bytes: far above any need.
const maxSize = 16 << 10

// Chosen are the settings of a source.
type Chosen struct {
	// Scheme are those of its scheme, with the tolerance for signed times.
	Scheme signature.Settings
	// PublicURL is the address under which the sender knows the source, where
	// that is not the one that this server would give it; "" otherwise.
	PublicURL string
	// PerSecond is how many events it takes in a second; 0 is no limit.
	PerSecond int
	// Addresses are those from which requests may come; none is all.
	Addresses []netip.Prefix
	// ReplayGuard is for how long a body that was taken in is refused under
	// another key; 0 is not at all.
	ReplayGuard time.Duration
}

// Split reads the settings of a source: a JSON object, or nothing. The members
// that every kind has are read; the others are the scheme's own, left in
// Scheme.Raw as they came. The errors are gateway.InvalidErrors, joined.
func Split(raw json.RawMessage) (Chosen, error) {
	chosen, faults, err := split(raw)
	return chosen, errors.Join(append(faults, err)...)
}

// split is Split with what is wrong about single settings apart: the others can
// be looked at all the same.
func split(raw json.RawMessage) (chosen Chosen, faults []error, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return chosen, nil, nil
	}
	if len(raw) > maxSize {
		return chosen, nil, gateway.Invalid("settings", "want at most %d bytes", maxSize)
	}
	members, err := membersOf(raw)
	if err != nil {
		return chosen, nil, err
	}
	own := members[:0]
	seen := map[string]bool{}
	for _, m := range members {
		read, ofEvery := ofEveryKind[m.name]
		switch {
		case !ofEvery:
			own = append(own, m)
			continue
		case seen[m.name]:
			return chosen, nil, gateway.Invalid("settings", "%q is given twice", m.name)
		}
		seen[m.name] = true
		if string(m.value) == "null" {
			continue
		}
		if err := read(&chosen, m.value); err != nil {
			faults = append(faults, gateway.Invalid("settings", "%q %s", m.name, err))
		}
	}
	chosen.Scheme.Raw = objectOf(own)
	return chosen, faults, nil
}

// Check tells whether a source of the scheme may be saved with these settings.
// All that is wrong is told at once: the errors are gateway.InvalidErrors,
// joined.
func Check(scheme signature.Scheme, raw json.RawMessage) error {
	chosen, faults, err := split(raw)
	if err != nil {
		return err
	}
	faults = append(faults, invalid(scheme.CheckSettings(chosen.Scheme.Raw))...)
	if err := checkURL(scheme.Info(), chosen.PublicURL); err != nil {
		faults = append(faults, gateway.Invalid("settings", "%q %s", PublicURL, err))
	}
	for _, m := range membersOrNone(chosen.Scheme.Raw) {
		var text string
		if json.Unmarshal(m.value, &text) == nil && text == gateway.Redacted {
			faults = append(faults, gateway.Invalid("settings", "%q is what stands for a value that you may not read: give the value", m.name))
		}
	}
	return errors.Join(faults...)
}

// invalid are the faults that a scheme found, which may be joined, each by
// itself.
func invalid(err error) []error {
	if err == nil {
		return nil
	}
	joined, several := err.(interface{ Unwrap() []error })
	if !several {
		return []error{gateway.Invalid("settings", "%s", err)}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, invalid(one)...)
	}
	return all
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

// membersOrNone is membersOf for what was read before.
func membersOrNone(raw json.RawMessage) []member {
	members, err := membersOf(raw)
	if err != nil {
		return nil
	}
	return members
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
