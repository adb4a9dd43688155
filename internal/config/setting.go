package config

import (
	"fmt"
	"reflect"
)

// Setting is a setting as a process has it, to be shown to people.
type Setting struct {
	Variable
	// Value is what holds, with secrets left out of it; empty: nothing is set.
	// Default is written the same way.
	Value string
}

// Settings shows every setting in the order in which help does. Secrets are
// left out of their values, by their types.
func (c Config) Settings() []Setting {
	var usual Config
	// The defaults parse: a test loads them.
	_, _ = parse(&usual, nil)
	all := make([]Setting, 0, reflect.TypeFor[Config]().NumField())
	defaults := reflect.ValueOf(usual)
	values := reflect.ValueOf(c)
	for i, v := range Variables() {
		v.Default = fmt.Sprint(defaults.Field(i).Interface())
		all = append(all, Setting{Variable: v, Value: fmt.Sprint(values.Field(i).Interface())})
	}
	return all
}
