package dashboard

import (
	"cmp"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/web/page"
)

const (
	// themeCookie and keysCookie hold what a browser looks like. They are no
	// secrets, and belong to the browser rather than to the person.
	themeCookie = "rowlock_theme"
	keysCookie  = "rowlock_keys"
	// appearanceAge is how long a browser remembers it.
	appearanceAge = 400 * 24 * time.Hour

	themeLight  = "light"
	themeDark   = "dark"
	themeSystem = "system"
	keysOff     = "off"

	fieldTheme = "theme"
	fieldKeys  = "keys"
	// fieldAll tells that the page of all choices was sent, and not the button
	// that changes the theme alone.
	fieldAll       = "all"
	appearancePath = "/me/appearance"
)

// theme is the one chosen in this browser; empty is the system's.
func (v *visit) theme() string {
	switch chosen := v.cookie(themeCookie); chosen {
	case themeLight, themeDark:
		return chosen
	default:
		return ""
	}
}

// keysOff tells that single-key shortcuts are off in this browser.
func (v *visit) keysOff() bool { return v.cookie(keysCookie) == keysOff }

func (v *visit) cookie(name string) string {
	cookie, err := v.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// remember keeps a choice in the browser; an empty one is forgotten.
func (v *visit) remember(name, value string) {
	age := int(appearanceAge / time.Second)
	if value == "" {
		age = -1
	}
	v.SetCookie(&http.Cookie{ //nolint:gosec // Secure where the address is https
		Name: name, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.d.sessions.options.Secure,
	})
}

func showAppearance(v *visit) error {
	frame, _, err := v.frame("Appearance", "")
	if err != nil {
		return err
	}
	return v.page(page.AppearancePage(page.Appearance{
		Frame: frame, Chosen: cmp.Or(v.theme(), themeSystem), Keys: !v.keysOff(),
	}))
}

// changeAppearance keeps what was chosen. The button beside the navigation
// comes back to the page it stands on, which is answer enough.
func changeAppearance(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	switch theme := f.raw(fieldTheme); theme {
	case themeLight, themeDark:
		v.remember(themeCookie, theme)
	case themeSystem:
		v.remember(themeCookie, "")
	}
	if f.raw(fieldAll) == "" {
		return v.redirect(localPath(f.raw(fieldNext), appearancePath))
	}
	keys := keysOff
	if f.checked(fieldKeys) {
		keys = ""
	}
	v.remember(keysCookie, keys)
	return v.done(appearancePath, "Saved in this browser.")
}
