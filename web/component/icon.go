package component

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// unknownIcon stands in for a name that the table does not have.
const unknownIcon = "circle-help"

// kindIcons are the icons of kinds of sources that have no mark of their own.
var kindIcons = map[string]string{
	"api":               "terminal",
	"basic":             "user",
	"bearer":            "tag",
	"ecdsa":             "fingerprint",
	"ed25519":           "fingerprint",
	"hmac":              "key-round",
	"none":              "lock-open",
	"sendgrid":          "mail",
	"slack":             "at-sign",
	"standard_webhooks": "webhook",
	"svix":              "webhook",
	"telnyx":            "radio",
	"twilio":            "phone",
}

// Icon is a drawing of Lucide, as large as the text it stands in. It says
// nothing to screen readers: the words beside it do. Classes are added.
func Icon(name string, classes ...string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, iconSVG(name, classes))
		return err
	})
}

func iconSVG(name string, classes []string) string {
	drawing, ok := iconPaths[name]
	if !ok {
		drawing = iconPaths[unknownIcon]
	}
	class := templ.EscapeString(strings.Join(append([]string{"icon"}, classes...), " "))
	return `<svg class="` + class + `" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75"` +
		` stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">` + drawing + `</svg>`
}

// Brand is the mark of a kind of source, such as "stripe" or "hmac"; a kind
// without a drawing has its initials.
func Brand(kind string) templ.Component {
	if icon, ok := kindIcons[kind]; ok {
		return Icon(icon)
	}
	if paths, ok := brandPaths[kind]; ok {
		return templ.Raw(`<svg viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">` + paths + `</svg>`)
	}
	return monogram(initials(kind))
}

// monogram draws one or two letters that grow with the tile they stand on.
func monogram(letters string) templ.Component {
	size := "20"
	if utf8.RuneCountInString(letters) > 1 {
		size = "15"
	}
	return templ.Raw(`<svg viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><text x="12" y="12" font-size="` + size +
		`" font-weight="600" text-anchor="middle" dominant-baseline="central">` + templ.EscapeString(letters) + `</text></svg>`)
}

// Mark is the product's sign.
func Mark() templ.Component {
	return templ.Raw(`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" d="M4 3v9.4a8 8 0 0 0 16 0V3h-4.6v9.4a3.4 3.4 0 0 1-6.8 0V3z"/><circle cx="12" cy="5.6" r="2.3" fill="currentColor" opacity=".55"/></svg>`)
}
