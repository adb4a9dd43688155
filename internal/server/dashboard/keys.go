package dashboard

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// The fields of the form for a new key, beside fieldName.
const (
	fieldScopes    = "scopes"
	fieldEnds      = "ends"
	fieldPerSecond = "per_second"
	fieldAddresses = "allowed_ips"
)

func showKeys(v *visit) error {
	l := v.listing(v.at("settings", "keys"))
	keys, err := v.d.Accounts.Keys(v.ctx(), v.account(), asked[gateway.KeyID](l))
	if err != nil {
		return err
	}
	frame, left, err := v.frame("API keys", layout.SectionKeys)
	if err != nil {
		return err
	}
	view := page.Keys{Frame: frame, Now: v.now(), Manages: v.may(gateway.PermKeys)}
	keys, view.Newest, view.Older = shown(l, keys, func(k gateway.APIKey) string { return k.ID.String() })
	for _, k := range keys {
		view.Rows = append(view.Rows, v.keyRow(k))
		if text := left.secretOf(k.ID.String()); text != "" {
			view.New = &page.NewKey{Name: k.Name, Text: text}
		}
	}
	return v.page(page.KeysPage(view))
}

func (v *visit) keyRow(k gateway.APIKey) page.KeyRow {
	return page.KeyRow{
		ID: k.ID, Path: v.at("settings", "keys", k.ID.String()), Name: k.Name, Hint: k.Hint, Scopes: k.Scopes,
		PerSecond: k.EventsPerSecond, CreatedAt: k.CreatedAt, EndsAt: k.EndsAt, Ended: k.HasEnded(v.now()), Soon: k.EndsSoon(v.now()),
		Networks: gateway.NetworkTexts(k.Networks), LastUsedAt: k.LastUsedAt, LastUsedFrom: addressText(k.LastUsedFrom),
	}
}

// addressText is an address; empty where it is not known.
func addressText(a *netip.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// keyForm is the form for a new key.
func (v *visit) keyForm() page.KeyForm {
	return page.KeyForm{Path: v.at("settings", "keys"), Heading: !v.scripted(), Scopes: []string{string(gateway.ScopePublish)}}
}

func askNewKey(v *visit) error {
	return v.ask("Create an API key", layout.SectionKeys, page.KeyFormAsk(v.keyForm()))
}

// createKey makes a key; its text is shown once, by the page that follows.
func createKey(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	n := v.newKey(f)
	if f.ok() {
		made, text, err := v.d.Accounts.CreateKey(v.ctx(), v.account(), v.actor(), n)
		if err == nil {
			return v.flash(v.at("settings", "keys"), flash{Secret: text, Of: made.ID.String()})
		}
		fields := map[string]string{fieldName: fieldName, fieldScopes: fieldScopes, "events_per_second": fieldPerSecond, "ends_at": fieldEnds, fieldAddresses: fieldAddresses}
		if !f.take(err, fields, nil) {
			return err
		}
	}
	ask := v.keyForm()
	ask.Name, ask.Scopes, ask.Ends, ask.PerSecond, ask.Addresses, ask.Errors = f.text(fieldName), f.all(fieldScopes), f.text(fieldEnds), f.text(fieldPerSecond), f.text(fieldAddresses), f.errors
	return v.askAgain(http.StatusUnprocessableEntity, "Create an API key", layout.SectionKeys, page.KeyFormAsk(ask))
}

// newKey is what the use case takes of the form.
func (v *visit) newKey(f form) account.NewKey {
	n := account.NewKey{Name: f.text(fieldName), Networks: strings.Fields(strings.ReplaceAll(f.raw(fieldAddresses), ",", " "))}
	if n.Name == "" {
		f.wrong(fieldName, "Give it a name.")
	}
	for _, scope := range f.all(fieldScopes) {
		n.Scopes = append(n.Scopes, gateway.Scope(scope))
	}
	if len(n.Scopes) == 0 {
		f.wrong(fieldScopes, "Choose at least one.")
	}
	if text := f.text(fieldPerSecond); text != "" {
		rate, err := strconv.Atoi(text)
		if err != nil {
			f.wrong(fieldPerSecond, "Enter a whole number, or leave it empty.")
		}
		n.EventsPerSecond = &rate
	}
	if chosen := f.text(fieldEnds); chosen != page.KeyLivesOn {
		days, err := strconv.Atoi(chosen)
		if err != nil || !page.IsKeyLife(chosen) {
			f.wrong(fieldEnds, "Choose when it ends.")
		}
		n.EndsAt = new(v.now().Add(time.Duration(days) * 24 * time.Hour))
	}
	return n
}

// key reads the key in the address.
func (v *visit) key() (gateway.APIKey, error) {
	id, err := gateway.ParseID[gateway.KeyID](v.Param("id"))
	if err != nil {
		return gateway.APIKey{}, err
	}
	return v.d.Accounts.Key(v.ctx(), v.account(), id)
}

func askRevokeKey(v *visit) error {
	k, err := v.key()
	if err != nil {
		return err
	}
	return v.ask("Revoke an API key", layout.SectionKeys, page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: v.at("settings", "keys"), Heading: !v.scripted(),
		Title: "Revoke “" + k.Name + "”?", Submit: "Revoke key",
		Text: []string{"The key rk_…" + k.Hint + " is refused from now on, for good. Whatever still uses it gets 401, and invitations that it made are revoked."},
	}))
}

func revokeKey(v *visit) error {
	id, err := gateway.ParseID[gateway.KeyID](v.Param("id"))
	if err != nil {
		return err
	}
	if err := v.d.Accounts.EndKey(v.ctx(), v.account(), v.actor(), id); err != nil {
		return err
	}
	return v.done(v.at("settings", "keys"), "Key revoked. It is refused from now on.")
}
