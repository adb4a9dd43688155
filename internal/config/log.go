package config

import (
	"fmt"
	"log/slog"
	"reflect"
)

// LogValue shows every setting under its variable's name. Secrets are
// redacted, by their types.
func (c Config) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, reflect.TypeFor[Config]().NumField())
	for field, value := range reflect.ValueOf(c).Fields() {
		attrs = append(attrs, slog.String(field.Tag.Get("env"), fmt.Sprint(value.Interface())))
	}
	return slog.GroupValue(attrs...)
}
