package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

func TestKeysPage(t *testing.T) {
	t.Parallel()
	frame := framed()
	frame.Section = layout.SectionKeys
	v := page.Keys{Frame: frame, Now: noon, Manages: true}
	if d := drawn(t, page.KeysPage(v)); d.Find(".empty a").Length() != 1 || d.Find("#api-keys").Length() != 0 {
		t.Error("no keys, and no way to the first")
	}
	past, near, far := noon, noon.Add(24*time.Hour), noon.Add(300*24*time.Hour)
	for i, ends := range []*time.Time{nil, &past, &near, &far} {
		v.Rows = append(v.Rows, page.KeyRow{
			ID: gateway.KeyID{byte(i)}, Path: "/a/acme/settings/keys/key_1", Name: hostile, Hint: hostile, Scopes: gateway.Scopes,
			PerSecond: new(5), CreatedAt: noon, EndsAt: ends, Ended: i == 1, Soon: i == 2,
			Networks: []string{hostile, "::1"}, LastUsedAt: &noon, LastUsedFrom: hostile,
		})
	}
	v.New = &page.NewKey{Name: hostile, Text: "rk_text"}
	d := drawn(t, page.KeysPage(v))
	if d.Find("#api-keys tbody tr").Length() != 4 || d.Find("#api-keys [data-s='revoked']").Length() != 1 || d.Find("#api-keys a[href$='/revoke']").Length() != 3 || d.Find("#api-keys .text-warn").Length() != 1 || d.Find("#api-keys [data-s='degraded']").Length() != 1 || d.Find("#expiring").Length() != 1 {
		t.Errorf("%s", d.Find("#api-keys").Text())
	}
	if d.Find("#new-key [data-copy='rk_text']").Length() != 1 || strings.TrimSpace(d.Find(".tabs a[aria-current]").Text()) != "API keys" {
		t.Error("the new key is not shown, or the tab not marked")
	}
	v.Manages = false
	if d := drawn(t, page.KeysPage(v)); d.Find("main a[href$='/revoke'], main a[href$='/new']").Length() != 0 {
		t.Error("a member is offered to change keys")
	}
}

func TestKeyQuestions(t *testing.T) {
	t.Parallel()
	f := page.KeyForm{Path: "/a/acme/settings/keys", Name: hostile, Scopes: []string{"read"}, Ends: "365", Errors: page.Errors{"scopes": "Choose.", "": hostile}}
	d := drawn(t, page.KeyFormAsk(f))
	if d.Find("input[name='scopes']").Length() != len(gateway.Scopes) || d.Find("input[name='scopes'][checked]").AttrOr("value", "") != "read" || d.Find("#scopes-error").Length() != 1 {
		t.Errorf("%s", d.Text())
	}
	if d.Find("#ends option[selected]").AttrOr("value", "") != "365" || !page.IsKeyLife("30") || page.IsKeyLife("1") {
		t.Error("how long a key lives is lost")
	}
}

func TestSettingsPage(t *testing.T) {
	t.Parallel()
	v := page.Settings{Frame: framed(), Now: noon, Name: `"Acme" <b>`, Manages: true, Errors: page.Errors{"name": "Too long."}}
	d := drawn(t, page.SettingsPage(v))
	if d.Find("#name").AttrOr("value", "") != `"Acme" <b>` || d.Find("#name-error").Length() != 1 || d.Find("#rename button[type='submit']").Length() != 1 {
		t.Errorf("%s", d.Find("#rename").Text())
	}
	v.Manages = false
	if d := drawn(t, page.SettingsPage(v)); d.Find("#rename button[type='submit']").Length() != 0 || d.Find("#name[disabled]").Length() != 1 {
		t.Error("a member can rename the account")
	}
}
