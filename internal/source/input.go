package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
)

// Input is what a caller chooses for a source. A field that is nil was not
// given.
type Input struct {
	Name *string
	// Kind is one of signature.Kinds; it is chosen once.
	Kind *string
	// UID is the caller's own name; an empty one takes the name away.
	UID *string
	// Secret is what proves requests, for Create alone. Later makes a source
	// without one, which refuses everything until it has one: for kinds whose
	// providers show it only when they know where to send to.
	Secret *string
	Later  bool
	// Settings are an object of the kind's own names, and "tolerance".
	Settings json.RawMessage
}

// maxName is in characters.
const maxName = 200

// noSettings is what is stored of a source that chose nothing.
var noSettings = []byte("{}")

// fillNew checks the input of a new source, fills the source with it and
// returns its secret; an empty one is none. All that is wrong is told at once:
// gateway.InvalidErrors, joined.
func (in Input) fillNew(source *gateway.Source) (proof string, err error) {
	scheme, err := in.scheme()
	if err != nil {
		return "", err
	}
	source.Kind = scheme.Info().Kind
	if in.Settings == nil {
		in.Settings = noSettings
	}
	proof, secretErr := in.newSecret(scheme)
	return proof, errors.Join(in.applyName(source, true), in.applyUID(source), in.applySettings(source, scheme), secretErr)
}

// applyTo writes what is given to a source that is there.
func (in Input) applyTo(source *gateway.Source) error {
	scheme, ok := signature.Lookup(source.Kind)
	if !ok {
		return gateway.Invalid("kind", "this version knows no such source")
	}
	return errors.Join(in.keepKind(source), in.refuseSecret(),
		in.applyName(source, false), in.applyUID(source), in.applySettings(source, scheme))
}

// given names the fields that are to be changed, for the audit log.
func (in Input) given() []string {
	var names []string
	if in.Name != nil {
		names = append(names, "name")
	}
	if in.UID != nil {
		names = append(names, "uid")
	}
	if in.Settings != nil {
		names = append(names, "settings")
	}
	return names
}

func (in Input) scheme() (signature.Scheme, error) {
	if in.Kind == nil {
		return nil, gateway.Invalid("kind", "is missing")
	}
	scheme, ok := signature.Lookup(*in.Kind)
	if !ok {
		return nil, gateway.Invalid("kind", "want one of %s", strings.Join(signature.Kinds(), ", "))
	}
	return scheme, nil
}

func (in Input) keepKind(source *gateway.Source) error {
	if in.Kind != nil && *in.Kind != source.Kind {
		return gateway.Invalid("kind", "cannot be changed: make a new source")
	}
	return nil
}

func (in Input) refuseSecret() error {
	if in.Secret != nil {
		return gateway.Invalid("secret", "is changed by rotating it")
	}
	return nil
}

func (in Input) newSecret(scheme signature.Scheme) (string, error) {
	given := in.Secret != nil && (*in.Secret != "" || !scheme.Info().Secret.Captured)
	if !given && !scheme.Info().NeedsSecret() {
		return "", nil
	}
	if in.Secret == nil && in.Later && scheme.Info().Secret.After {
		return "", nil
	}
	if in.Secret == nil {
		return "", gateway.Invalid("secret", "is missing: it proves the requests of this kind of source")
	}
	return checkSecret(scheme, *in.Secret)
}

// checkSecret returns the form in which a secret is stored. The error does not
// repeat it.
func checkSecret(scheme signature.Scheme, pasted string) (string, error) {
	checked, err := scheme.CheckSecret(pasted)
	if err != nil {
		return "", gateway.Invalid("secret", "%s", err)
	}
	return checked, nil
}

func (in Input) applyName(source *gateway.Source, needed bool) error {
	if in.Name == nil {
		if needed {
			return gateway.Invalid("name", "is missing")
		}
		return nil
	}
	name := strings.TrimSpace(*in.Name)
	if name == "" || utf8.RuneCountInString(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return gateway.Invalid("name", "want 1 to %d characters on one line", maxName)
	}
	source.Name = name
	return nil
}

func (in Input) applyUID(source *gateway.Source) error {
	switch {
	case in.UID == nil:
		return nil
	case *in.UID == "":
		source.UID = nil
		return nil
	}
	if err := gateway.CheckUID(*in.UID); err != nil {
		return err
	}
	uid := *in.UID
	source.UID = &uid
	return nil
}

func (in Input) applySettings(source *gateway.Source, scheme signature.Scheme) error {
	if in.Settings == nil {
		return nil
	}
	if err := settings.Check(scheme, in.Settings); err != nil {
		return err
	}
	source.Settings = bytes.TrimSpace(in.Settings)
	if len(source.Settings) == 0 || string(source.Settings) == "null" {
		source.Settings = noSettings
	}
	return nil
}
