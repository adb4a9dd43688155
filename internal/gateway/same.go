package gateway

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// SameJSON tells that two values are the same, however they are spaced and
// ordered. Numbers are the same if they are written the same way. Nothing at all
// is only the same as nothing.
func SameJSON(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	one, okOne := decoded(a)
	other, okOther := decoded(b)
	return okOne && okOther && reflect.DeepEqual(one, other)
}

func decoded(text []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&value)
	return value, err == nil
}
