package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

var errSettingsObject = errors.New("settings are not one JSON object")

// decodeSettings reads a JSON object into the places that its field names are
// mapped to. Names are exact; an unknown or repeated one is an error. Nothing
// and null are the empty object, and a null field is one left out.
func decodeSettings(raw json.RawMessage, fields map[string]any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return errSettingsObject
	}
	seen := make(map[string]bool, len(fields))
	for decoder.More() {
		if err := decodeField(decoder, fields, seen); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return errSettingsObject
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errSettingsObject
	}
	return nil
}

func decodeField(decoder *json.Decoder, fields map[string]any, seen map[string]bool) error {
	token, err := decoder.Token()
	name, ok := token.(string)
	if err != nil || !ok {
		return errSettingsObject
	}
	target, known := fields[name]
	switch {
	case !known:
		return fmt.Errorf("unknown setting %.40q", name)
	case seen[name]:
		return fmt.Errorf("setting %q is given twice", name)
	}
	seen[name] = true
	if err := decoder.Decode(target); err != nil {
		return fmt.Errorf("setting %q has the wrong type", name)
	}
	return nil
}

// noSettings accepts the empty object, for schemes with nothing to choose.
func noSettings(raw json.RawMessage) error { return decodeSettings(raw, nil) }

// textsIn are all texts in settings that cannot be used: one of them may be the
// name of the header with the secret.
func textsIn(raw json.RawMessage) []string {
	var texts []string
	decoder := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := decoder.Token()
		if err != nil {
			return texts
		}
		if text, ok := token.(string); ok {
			texts = append(texts, text)
		}
	}
}
