package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/server"
)

func TestStoragePage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	p := w.get("/instance/storage")
	p.wantText("#numbers", "known after the first whole day")
	p.wantText(".empty", "Nothing has come in yet")
	w.tenant().must(202, http.MethodPost, "/events", `{"type":"order.created","data":1}`)
	p = w.get("/instance/storage")
	if rows := p.Find("#days tbody tr"); rows.Length() != 1 {
		t.Errorf("days: %q", rows.Text())
	}
	p.wantText("#tables", "event_keys")
	p.wantText("#tables", "deliveries")
}

// withSettings has the process tell of its settings.
func withSettings(d *server.Deps) {
	c, err := config.Load([]string{"ROWLOCK_RETENTION=240h", "ROWLOCK_SMTP_URL=smtp://me:hunter2@mail.example.com"})
	if err != nil {
		panic(err)
	}
	d.Settings, d.Version = c.Settings(), "v1.2.3"
}

func TestInstanceSettingsPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, withSettings)
	p := b.signedUp(t, "Acme").get("/instance/settings")
	for _, v := range config.Variables() {
		if p.Find("#"+v.Name).Length() != 1 {
			t.Errorf("%s is not there once", v.Name)
		}
	}
	p.wantText("#kept #ROWLOCK_RETENTION", "240h0m0s")
	p.wantText("#ROWLOCK_RETENTION", "default 720h0m0s")
	p.wantText("#process #ROWLOCK_SMTP_URL", "smtp://mail.example.com")
	p.wantText("#process #ROWLOCK_MASTER_KEY", "not set")
	p.wantText("main", "v1.2.3")
	if strings.Contains(p.text, "hunter2") {
		t.Error("it shows a password")
	}
}
