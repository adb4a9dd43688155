package page

import (
	"slices"

	"github.com/rowlock/rowlock/web/component"
)

// heading is the form's title.
func (f SourceForm) heading() string {
	if f.IsNew() {
		return "Add source"
	}
	return "Edit source"
}

func (f SourceForm) crumbs() []component.Crumb {
	way := []component.Crumb{{Text: "Sources", Href: f.Account.Path + "/sources"}}
	if f.IsNew() {
		return append(way, component.Crumb{Text: "Add source"})
	}
	return append(way, component.Crumb{Text: f.Title, Href: f.Path}, component.Crumb{Text: "Edit"})
}

// action is where the form is posted.
func (f SourceForm) action() string {
	if f.IsNew() {
		return f.Account.Path + "/sources/new"
	}
	return f.Path + "/edit"
}

func (f SourceForm) cancel() string {
	if f.IsNew() {
		return f.Account.Path + "/sources"
	}
	return f.Path
}

func (f SourceForm) submit() string {
	if f.IsNew() {
		return "Add source"
	}
	return "Save changes"
}

// secretHint says where the secret comes from, and after a mistake that it has
// to be entered once more.
func (f SourceForm) secretHint() string {
	if f.Errors.Any() && f.Errors["secret"] == "" {
		return "Enter it again: it is not kept while something else is wrong."
	}
	return f.Kind.SecretFrom
}

// advancedOpen shows what is rarely needed when it holds something.
func (f SourceForm) advancedOpen() bool {
	return f.Chosen["uid"] != "" || f.Chosen["tolerance"] != "" || f.Errors["uid"] != "" || f.Errors["tolerance"] != ""
}

// options marks the chosen one; the first is chosen where nothing else is.
func options(chosen string, all ...component.Option) []component.Option {
	all = slices.Clone(all)
	for i := range all {
		all[i].Selected = all[i].Value == chosen || chosen == "" && i == 0
	}
	return all
}

// hmacExample is how a service signs, as fields of the form.
type hmacExample struct {
	name  string
	lines []string
}

var hmacKnown = []hmacExample{
	{"Shopify", []string{"X-Shopify-Hmac-Sha256", "SHA256, Base64, {body}", "id in X-Shopify-Webhook-Id, type in X-Shopify-Topic"}},
	{"Slack", []string{"X-Slack-Signature, prefix v0=", "SHA256, hex, v0:{timestamp}:{body}", "time in X-Slack-Request-Timestamp"}},
	{"Linear", []string{"Linear-Signature", "SHA256, hex, {body}", "id in Linear-Delivery, type in Linear-Event"}},
	{"Vercel", []string{"X-Vercel-Signature", "SHA1, hex, {body}"}},
}
