package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/config"
)

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{
		"DATABASE_URL=postgres://hunter0:hunter1@db:5432/rowlock?sslpassword=hunter2", "ROWLOCK_MASTER_KEY=" + goodKey,
		"ROWLOCK_MASTER_KEY_PREVIOUS=" + goodKey, "ROWLOCK_SMTP_URL=smtp://u:hunter3@mail:25",
		"OTEL_EXPORTER_OTLP_ENDPOINT=https://u:hunter4@otel",
	})
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("settings", "config", c, "key", c.MasterKey, "url", c.SMTPURL)
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("settings", "config", c, "key", c.MasterKey, "url", c.SMTPURL)

	printed := map[string]string{
		"%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", c), "%#v": fmt.Sprintf("%#v", c),
		"%s": fmt.Sprintf("%s %s", c.MasterKey, c.DatabaseURL), "%q": fmt.Sprintf("%q %q", c.MasterKey, c.DatabaseURL),
		"%x":   fmt.Sprintf("%x", c.MasterKey),
		"json": string(asJSON), "slog": logged.String(),
	}
	for how, text := range printed {
		if strings.Contains(text, "hunter") || strings.Contains(text, goodKey[:8]) {
			t.Errorf("%s shows a secret: %s", how, text)
		}
	}
	for _, want := range []string{"config.ROWLOCK_DATABASE_URL=postgres://db:5432/rowlock", "config.ROWLOCK_SMTP_URL=smtp://mail:25", "config.ROWLOCK_MASTER_KEY=[redacted]", "config.ROWLOCK_WORKERS=256"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("log lacks %s:\n%s", want, logged.String())
		}
	}
}

func TestSecretURLHidesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, u := range []config.SecretURL{"hunter:2", "postgres://u:hun#ter@h", "hunter2"} {
		if got := u.String(); strings.Contains(got, "hun") {
			t.Errorf("%q shows %q", u.Reveal(), got)
		}
	}
	if got := config.SecretURL("").String() + config.Key("").String(); got != "" {
		t.Errorf("an empty secret shows %q", got)
	}
}
