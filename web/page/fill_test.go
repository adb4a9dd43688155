package page_test

import (
	"fmt"
	"reflect"
	"time"
)

// filler fills whatever a page can show, so that no field of a view is
// forgotten: a new one is filled as soon as it is there.
type filler struct {
	// text is every text, behind which its number stands.
	text string
	// rows is how many rows each list gets.
	rows int
	// on tells of the nth choice (a flag, or what can be missing) whether it is
	// made; nil makes all.
	on func(n int) bool
	// keys are the names in maps of texts, such as the fields of a form.
	keys []string

	texts, choices int
}

// fill fills a view, given as a pointer.
func (f *filler) fill(view any) { f.value(reflect.ValueOf(view).Elem()) }

func (f *filler) value(v reflect.Value) {
	switch kind := v.Kind(); kind {
	case reflect.String:
		v.SetString(f.next())
	case reflect.Bool:
		v.SetBool(f.choose())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.texts++
		v.SetInt(int64(f.texts))
	case reflect.Uint8:
		f.texts++
		v.SetUint(uint64(f.texts % 256))
	case reflect.Float32, reflect.Float64:
		f.texts++
		v.SetFloat(float64(f.texts))
	case reflect.Array, reflect.Slice:
		f.list(v)
	case reflect.Map:
		f.names(v)
	case reflect.Pointer:
		if f.choose() {
			v.Set(reflect.New(v.Type().Elem()))
			f.value(v.Elem())
		}
	case reflect.Struct:
		f.fields(v)
	case reflect.Interface, reflect.Func: // parts of the product's own
	default:
		panic(fmt.Sprintf("a view has a %s", kind))
	}
}

func (f *filler) next() string {
	f.texts++
	return fmt.Sprint(f.text, f.texts)
}

func (f *filler) choose() bool {
	f.choices++
	return f.on == nil || f.on(f.choices)
}

func (f *filler) list(v reflect.Value) {
	if v.Kind() == reflect.Slice {
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(f.next()))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), f.rows, f.rows))
	}
	for i := range v.Len() {
		f.value(v.Index(i))
	}
}

// names fills a map of texts.
func (f *filler) names(v reflect.Value) {
	if v.Type().Elem().Kind() != reflect.String {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, key := range f.keys {
		v.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(f.next()))
	}
}

func (f *filler) fields(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		f.texts++
		v.Set(reflect.ValueOf(noon.Add(-time.Duration(f.texts) * time.Minute)))
		return
	}
	for _, field := range v.Fields() {
		if field.CanSet() {
			f.value(field)
		}
	}
}
