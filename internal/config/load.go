package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Load reads the settings from an environment of NAME=value texts, such as
// os.Environ returns. A variable that is empty counts as not set.
//
// The error joins one *SettingError for each setting that is wrong, in the
// order of Config, so that a person mends all of them at once.
func Load(environ []string) (Config, error) {
	given := readEnvironment(environ)
	var c Config
	failed, err := parse(&c, given.values)
	if err != nil {
		return Config{}, err
	}
	if err := errors.Join(c.problems(given, failed)...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// environment is what was given: trimmed values by name, and for a setting
// that came by its fallback, the name it really has.
type environment struct {
	values map[string]string
	source map[string]string
}

// readEnvironment trims every value, since keys read from files often end in
// a newline, and applies the fallbacks.
func readEnvironment(environ []string) environment {
	given := environment{values: env.ToMap(environ), source: map[string]string{}}
	for name, value := range given.values {
		given.values[name] = strings.TrimSpace(value)
	}
	for field := range reflect.TypeFor[Config]().Fields() {
		name, fallback := field.Tag.Get("env"), field.Tag.Get("fallback")
		if fallback == "" || given.values[name] != "" {
			continue
		}
		given.values[name] = given.values[fallback]
		given.source[name] = fallback
	}
	return given
}

// parse fills c and returns the names of the fields whose value has not the
// right form. The error is a fault of Config itself.
func parse(c *Config, values map[string]string) (map[string]bool, error) {
	err := env.ParseWithOptions(c, env.Options{Environment: values})
	if err == nil {
		return nil, nil
	}
	var all env.AggregateError
	if !errors.As(err, &all) {
		return nil, fmt.Errorf("parse settings: %w", err)
	}
	failed := map[string]bool{}
	for _, one := range all.Errors {
		var bad env.ParseError
		if !errors.As(one, &bad) {
			return nil, fmt.Errorf("parse settings: %w", one)
		}
		failed[bad.Name] = true
	}
	return failed, nil
}
