package config_test

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/config"
)

func TestSettingsShowWhatHolds(t *testing.T) {
	t.Parallel()
	const key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	c, err := config.Load([]string{
		"ROWLOCK_DATABASE_URL=postgres://rowlock:hunter2@db.internal/rowlock", "ROWLOCK_MASTER_KEY=" + key, "ROWLOCK_RETENTION=240h",
		"ROWLOCK_SMTP_URL=smtp://me:hunter2@mail.example.com:587?from=x@example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]config.Setting{}
	for _, s := range c.Settings() {
		got[s.Name] = s
		if strings.Contains(s.Value+s.Default, "hunter2") || strings.Contains(s.Value, key) {
			t.Errorf("%s shows its secret: %q", s.Name, s.Value)
		}
	}
	if len(got) != len(config.Variables()) {
		t.Errorf("%d settings", len(got))
	}
	for name, want := range map[string][2]string{
		"ROWLOCK_RETENTION":    {"240h0m0s", "720h0m0s"},
		"ROWLOCK_MAX_BODY":     {"1MiB", "1MiB"},
		"ROWLOCK_WORKERS":      {"256", "256"},
		"ROWLOCK_SMTP_URL":     {"smtp://mail.example.com:587", ""},
		"ROWLOCK_DATABASE_URL": {"postgres://db.internal/rowlock", ""},
	} {
		if s := got[name]; s.Value != want[0] || s.Default != want[1] {
			t.Errorf("%s is %q, usually %q; want %q", name, s.Value, s.Default, want)
		}
	}
}
