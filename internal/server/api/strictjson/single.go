package strictjson

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// single is what a value that is no container has to be.
type single struct {
	kind reflect.Kind
	// least and most bound a whole number.
	least, most int64
}

// singleOf reads the kind off a type and the bounds off a field's tag. A bound
// that is no whole number is none.
func singleOf(t reflect.Type, tag reflect.StructTag) single {
	return single{kind: t.Kind(), least: bound(tag, "minimum", math.MinInt64), most: bound(tag, "maximum", math.MaxInt64)}
}

func bound(tag reflect.StructTag, name string, otherwise int64) int64 {
	n, err := strconv.ParseInt(tag.Get(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// check says what is wrong with a value; nothing is empty.
func (s single) check(value []byte) string {
	switch s.kind {
	case reflect.String:
		if _, err := Text(value); err != nil {
			return err.Error()
		}
	case reflect.Bool:
		if text := string(value); text != "true" && text != "false" {
			return "want true or false"
		}
	case reflect.Int, reflect.Int64:
		if n, err := strconv.ParseInt(string(value), 10, 64); err != nil || n < s.least || n > s.most {
			return "want " + s.number()
		}
	default: // decoding checks it
	}
	return ""
}

// number tells which numbers are right.
func (s single) number() string {
	switch {
	case s.least != math.MinInt64 && s.most != math.MaxInt64:
		return fmt.Sprintf("a whole number from %d to %d", s.least, s.most)
	case s.least != math.MinInt64:
		return fmt.Sprintf("a whole number of at least %d", s.least)
	default:
		return "a whole number within its range"
	}
}
