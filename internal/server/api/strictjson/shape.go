package strictjson

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Shape is which fields a document may have, at every level.
type Shape struct {
	kind kind
	// fields are a named object's.
	fields map[string]*Shape
	// entry is that of a list or of an object with free names.
	entry *Shape
	// single is what a scalar has to be.
	single single
}

type kind int

const (
	kindScalar kind = iota
	// kindNamed is an object with fields of ours.
	kindNamed
	// kindFree is an object whose names the caller chooses.
	kindFree
	kindList
	// kindAny is any value whose texts are clean and whose names do not repeat.
	kindAny
)

// A wrapper is a type around another one, such as Field.
type wrapper interface{ inner() reflect.Type }

var (
	rawType     = reflect.TypeFor[json.RawMessage]()
	wrapperType = reflect.TypeFor[wrapper]()

	shapes sync.Map // reflect.Type → *Shape
)

// ShapeOf derives the shape of a document from the type that it is decoded
// into, by its json tags. The tags minimum and maximum, which the
// documentation shows too, bound whole numbers.
func ShapeOf(t reflect.Type) *Shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*Shape)
	}
	made, _ := shapes.LoadOrStore(t, shapeOf(t, ""))
	return made.(*Shape)
}

// shapeOf hands the tag of a field down to what the field holds: the bounds of
// a list are those of its elements.
func shapeOf(t reflect.Type, tag reflect.StructTag) *Shape {
	switch {
	case t == rawType:
		return &Shape{kind: kindAny}
	case t.Implements(wrapperType):
		return shapeOf(reflect.Zero(t).Interface().(wrapper).inner(), tag)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), tag)
	case reflect.Struct:
		return &Shape{kind: kindNamed, fields: fieldsOf(t)}
	case reflect.Map:
		return &Shape{kind: kindFree, entry: shapeOf(t.Elem(), tag)}
	case reflect.Slice:
		return &Shape{kind: kindList, entry: shapeOf(t.Elem(), tag)}
	default:
		return &Shape{kind: kindScalar, single: singleOf(t, tag)}
	}
}

func fieldsOf(t reflect.Type) map[string]*Shape {
	fields := map[string]*Shape{}
	for field := range t.Fields() {
		if field.Anonymous {
			maps.Copy(fields, fieldsOf(field.Type))
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = shapeOf(field.Type, field.Tag)
		}
	}
	return fields
}

// names lists a named object's fields, for messages.
func (s *Shape) names() string {
	if len(s.fields) == 0 {
		return "none"
	}
	names := make([]string, 0, len(s.fields))
	for name := range s.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
