package config_test

import (
	"reflect"
	"testing"

	"github.com/rowlock/rowlock/internal/config"
)

func TestVariablesDescribeEveryField(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[config.Config]().NumField()
	seen := map[string]bool{}
	for _, v := range config.Variables() {
		if v.Name == "" || v.Meaning == "" || seen[v.Name] {
			t.Errorf("variable %+v is unnamed, unexplained or repeated", v)
		}
		seen[v.Name] = true
	}
	if len(seen) != fields {
		t.Errorf("%d variables for %d fields", len(seen), fields)
	}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		if field.Tag.Get("accept") == "" {
			t.Errorf("%s does not say what it accepts", field.Name)
		}
	}
}

func TestVariablesShowDefaultsThatLoad(t *testing.T) {
	t.Parallel()
	var environ []string
	for _, v := range config.Variables() {
		environ = append(environ, v.Name+"="+v.Default)
	}
	if _, err := config.Load(environ); err != nil {
		t.Errorf("the defaults as shown do not load: %v", err)
	}
}
