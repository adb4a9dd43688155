package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/client"
)

func TestFromEnvironRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		environ []string
		setting string
		says    string
	}{
		"no key":               {nil, client.KeyVariable, "is not set"},
		"blank key":            {[]string{"ROWLOCK_API_KEY= "}, client.KeyVariable, "is not set"},
		"key over two lines":   {[]string{"ROWLOCK_API_KEY=rk_a\nb"}, client.KeyVariable, "character"},
		"key with a non-ASCII": {[]string{"ROWLOCK_API_KEY=rk_é"}, client.KeyVariable, "character"},
		"server without http":  {[]string{"ROWLOCK_API_KEY=rk_a", "ROWLOCK_SERVER=localhost:8080"}, client.ServerVariable, "not an http"},
		"server of another":    {[]string{"ROWLOCK_API_KEY=rk_a", "ROWLOCK_SERVER=ftp://x"}, client.ServerVariable, "not an http"},
		"server without host":  {[]string{"ROWLOCK_API_KEY=rk_a", "ROWLOCK_SERVER=http:///x"}, client.ServerVariable, "not an http"},
		"server with password": {[]string{"ROWLOCK_API_KEY=rk_a", "ROWLOCK_SERVER=http://u:p@x"}, client.ServerVariable, "password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.FromEnviron(tt.environ)
			setting, ok := errors.AsType[*client.SettingError](err)
			if !ok {
				t.Fatalf("got %v, want a *SettingError", err)
			}
			if setting.Name != tt.setting || !strings.Contains(setting.Error(), tt.says) || setting.Hint() == "" {
				t.Errorf("got %q with hint %q, want one of %s that says %q", setting, setting.Hint(), tt.setting, tt.says)
			}
			if !strings.HasPrefix(setting.Error(), tt.setting+" ") {
				t.Errorf("%q is no sentence", setting)
			}
			if strings.Contains(setting.Error()+setting.Hint(), "rk_") {
				t.Errorf("the key is part of the error: %q", setting)
			}
		})
	}
}

func TestFromEnvironAccepts(t *testing.T) {
	t.Parallel()
	for name, environ := range map[string][]string{
		"the key alone":       {"ROWLOCK_API_KEY=rk_a"},
		"a pasted key":        {"ROWLOCK_API_KEY= rk_a\r\n"},
		"a server":            {"ROWLOCK_API_KEY=rk_a", "ROWLOCK_SERVER=https://rowlock.example.com/"},
		"the last one counts": {"ROWLOCK_API_KEY=", "ROWLOCK_API_KEY=rk_a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := client.FromEnviron(environ); err != nil {
				t.Errorf("got %v, want a client", err)
			}
		})
	}
}
