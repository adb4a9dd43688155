package config

import "reflect"

// Variable describes one setting for help and documentation.
type Variable struct {
	Name    string // the environment variable
	Default string // empty: none
	Meaning string // one or two sentences
}

// Variables lists every setting in the order in which help shows them.
func Variables() []Variable {
	t := reflect.TypeFor[Config]()
	variables := make([]Variable, 0, t.NumField())
	for field := range t.Fields() {
		variables = append(variables, Variable{
			Name:    field.Tag.Get("env"),
			Default: field.Tag.Get("envDefault"),
			Meaning: field.Tag.Get("about"),
		})
	}
	return variables
}
