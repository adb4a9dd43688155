package dashboard

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/web/layout"
)

// The tones of a message.
const (
	toneOK  = "ok"
	toneBad = "bad"
)

// flash is what the page after a form shows once: a message, and now and then
// a secret that nobody is shown a second time. It is kept sealed.
type flash struct {
	Tone string `json:"tone,omitempty"`
	Text string `json:"text,omitempty"`
	// Secret is shown where the page shows what it belongs to, by its id.
	Secret string `json:"secret,omitempty"`
	Of     string `json:"of,omitempty"`
}

// flash redirects, and leaves a message for the next page. One with a secret is
// for the page that it leads to alone: another one, in another window, would
// take it away unseen.
func (v *visit) flash(to string, f flash) error {
	if f.Tone == "" {
		f.Tone = toneOK
	}
	text, err := json.Marshal(f) //nolint:gosec // it is kept sealed, and shown once
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	left := account.Flash{Message: text}
	if f.Secret != "" {
		left.Page = pathOf(to)
	}
	if err := v.d.Accounts.SetFlash(v.ctx(), v.session, left); err != nil {
		return err
	}
	return v.redirect(to)
}

// pathOf is the path of an address of this server.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}

// takeFlash takes the message that the last form left, if there is one.
func (v *visit) takeFlash() (flash, error) {
	var f flash
	if !v.known() || !v.session.HasFlash || v.scripted() {
		return f, nil
	}
	text, err := v.d.Accounts.TakeFlash(v.ctx(), v.session, v.Request().URL.Path)
	if err != nil || len(text) == 0 {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("decode message: %w", err)
	}
	return f, nil
}

// toast is the message as pages show it; nil is none.
func (f flash) toast() *layout.Toast {
	if f.Text == "" {
		return nil
	}
	return &layout.Toast{Tone: f.Tone, Text: f.Text}
}

// secretOf returns the secret that this page is to show once, if it belongs to
// the thing with this id.
func (f flash) secretOf(id string) string {
	if f.Of == id {
		return f.Secret
	}
	return ""
}
