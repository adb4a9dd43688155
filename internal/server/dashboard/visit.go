package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
)

// visit is one request of a browser: who asks, and in which account.
type visit struct {
	echo.Context

	d *Dashboard
	// session is who is logged in; its Person has no id if nobody is.
	session account.Session
	// token is what the browser showed for it.
	token string
	// membership is the account in the address, and what the person may do
	// there; zero outside of accounts.
	membership account.Membership
}

// ctx is the request's context.
func (v *visit) ctx() context.Context { return v.Request().Context() }

// now is the node's time.
func (v *visit) now() time.Time { return v.d.Now() }

// person is who is logged in.
func (v *visit) person() account.Person { return v.session.Person }

// known tells that somebody is logged in.
func (v *visit) known() bool { return v.session.Person.ID != gateway.UserID{} }

// account is the id of the account in the address.
func (v *visit) account() gateway.AccountID { return v.membership.Account.ID }

// actor is the person's name in the audit log.
func (v *visit) actor() gateway.Actor { return gateway.Actor(v.session.Person.ID.String()) }

// may tells that the person has a permission in this account. The guards of the
// routes ask the same, so that no page offers what is refused.
func (v *visit) may(p gateway.Permission) bool { return v.membership.May(p) }

// manages tells that the person may change what there is in this account.
func (v *visit) manages() bool { return v.may(gateway.PermConfigure) }

// operates tells that the person may act on what is going on.
func (v *visit) operates() bool { return v.may(gateway.PermOperate) }

// addHref is where endpoints or sources are added; empty for who may not.
func (v *visit) addHref(what string) string {
	if !v.manages() {
		return ""
	}
	return v.at(what, "new")
}

// at is the address of something within the account: at("events", id).
func (v *visit) at(parts ...string) string {
	return accountPath(v.membership.Account) + joined(parts)
}

// accountPath is where an account's pages are.
func accountPath(a gateway.Account) string { return "/a/" + url.PathEscape(a.Slug) }

func joined(parts []string) string {
	var path strings.Builder
	for _, part := range parts {
		path.WriteByte('/')
		path.WriteString(url.PathEscape(part))
	}
	return path.String()
}

// scripted tells that a script of the page asks, which wants a part of it.
func (v *visit) scripted() bool { return v.Request().Header.Get("HX-Request") == "true" }

// here is the request's address, path and query.
func (v *visit) here() string { return v.Request().URL.RequestURI() }

// redirect answers a form: the browser reads the page anew.
func (v *visit) redirect(to string) error { return v.Redirect(http.StatusSeeOther, to) }

// done is redirect with a message that the next page shows.
func (v *visit) done(to, message string) error {
	return v.flash(to, flash{Text: message})
}

// refused is done for what could not be done.
func (v *visit) refused(to, message string) error {
	return v.flash(to, flash{Tone: toneBad, Text: message})
}

// localPath returns an address of this server from what a browser sent, or
// instead of any other the alternative: nobody is led away by a link.
func localPath(raw, otherwise string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.ContainsAny(raw, "\\\t\r\n") {
		return otherwise
	}
	return u.RequestURI()
}
