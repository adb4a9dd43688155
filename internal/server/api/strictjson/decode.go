package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Decode checks a document against the shape of T and decodes it. A document
// that is not JSON is *SyntaxError, one that does not fit is Faults.
func Decode[T any](document []byte) (T, error) {
	var into T
	if err := ShapeOf(reflect.TypeFor[T]()).Check(document); err != nil {
		return into, err
	}
	err := json.Unmarshal(document, &into)
	if err == nil {
		return into, nil
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return into, Faults{{Path: documentPath(reflect.TypeFor[T](), mismatch.Field), Detail: "want " + wanted(mismatch.Type)}}
	}
	return into, fmt.Errorf("decode a checked document: %w", err)
}

// documentPath takes off what encoding/json puts before the fields of a struct
// that is embedded, which the document does not know.
func documentPath(t reflect.Type, path string) string {
	for field := range t.Fields() {
		if inside, ok := strings.CutPrefix(path, field.Name+"."); ok && field.Anonymous {
			return inside
		}
	}
	return path
}

// wanted names a type in JSON's words.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	default:
		return "a whole number within its range"
	}
}

// Field is a field of a document in which null has a meaning of its own,
// beside being left out.
type Field[T any] struct {
	// Given tells that the field stands in the document.
	Given bool
	// Null tells that it is null there; Value then is zero.
	Null bool
	// Value is what it holds.
	Value T
}

// UnmarshalJSON notes that the field was given, and takes its value.
func (f *Field[T]) UnmarshalJSON(value []byte) error {
	f.Given, f.Null = true, IsNull(value)
	if f.Null {
		return nil
	}
	return json.Unmarshal(value, &f.Value)
}

func (Field[T]) inner() reflect.Type { return reflect.TypeFor[T]() }

// MarshalJSON writes what the field holds. A field that was not given is left
// out by the tag omitzero.
func (f Field[T]) MarshalJSON() ([]byte, error) {
	if f.Null || !f.Given {
		return []byte("null"), nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // an expression stays as it was written
	if err := encoder.Encode(f.Value); err != nil {
		return nil, fmt.Errorf("encode field: %w", err)
	}
	return out.Bytes(), nil
}

// Of is a field that holds a value.
func Of[T any](value T) Field[T] { return Field[T]{Given: true, Value: value} }

// Null is a field that is null.
func Null[T any]() Field[T] { return Field[T]{Given: true, Null: true} }
