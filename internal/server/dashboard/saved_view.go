package dashboard

import (
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// fieldQuery is what a saved view is narrowed by.
const fieldQuery = "query"

// savedViews are the person's, as tabs; the page is told which of them it shows,
// and where it is saved.
func (v *visit) savedViews(l listing, view *page.Events) (tabs []component.Choice, err error) {
	saved, err := v.d.Accounts.SavedViews(v.ctx(), v.account(), v.person().ID)
	if err != nil {
		return nil, err
	}
	here := l.saved()
	for _, s := range saved {
		tab := component.Choice{Text: s.Name, Href: l.path + "?" + s.Query, Icon: "bookmark", Current: s.Query == here && view.Saved == ""}
		if tab.Current {
			view.Saved = s.Name
			view.Unsave = address(v.at("events", "views", "delete"), fieldName, s.Name)
		}
		tabs = append(tabs, tab)
	}
	if view.Saved == "" && here != "" {
		view.Save = address(v.at("events", "views", "new"), fieldQuery, here)
	}
	return tabs, nil
}

// saved is what a list is narrowed by, as a view keeps it: on its first page,
// with the length of time and not the moment.
func (l listing) saved() string {
	q := l.clone()
	q.Del(paramAfter)
	for name, values := range q {
		if len(values) == 0 {
			delete(q, name)
		}
	}
	return q.Encode()
}

func askSaveView(v *visit) error {
	return v.askView(http.StatusOK, page.SaveView{Query: v.QueryParam(fieldQuery)})
}

// askView asks for the name of a view.
func (v *visit) askView(status int, q page.SaveView) error {
	q.Action, q.Cancel, q.Heading = v.at("events", "views", "new"), v.at("events"), !v.scripted()
	return v.askAgain(status, "Save view", layout.SectionEvents, page.SaveViewAsk(q))
}

func saveView(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	name, query := f.text(fieldName), f.text(fieldQuery)
	if f.ok() {
		err := v.d.Accounts.SaveView(v.ctx(), v.account(), v.person().ID, name, query)
		if err == nil {
			return v.done(v.at("events")+"?"+query, "Saved as “"+name+"”. It stands above the list whenever you come back.")
		}
		if errors.Is(err, gateway.ErrLimitReached) {
			f.wrong(fieldName, "You have as many views as there can be. Delete one first, or take the name of one to replace it.")
		} else if !f.take(err, map[string]string{fieldName: fieldName, fieldQuery: fieldQuery}, nil) {
			return err
		}
	}
	return v.askView(http.StatusUnprocessableEntity, page.SaveView{Name: name, Query: query, Errors: f.errors})
}

func askDeleteView(v *visit) error {
	name := v.QueryParam(fieldName)
	return v.ask("Delete view", layout.SectionEvents, page.DeleteViewAsk(page.DeleteView{
		Action: v.at("events", "views", "delete"), Cancel: v.at("events"), Name: name, Heading: !v.scripted(),
	}))
}

func deleteView(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	err = v.d.Accounts.DeleteView(v.ctx(), v.account(), v.person().ID, f.text(fieldName))
	if isMissing(err) {
		return v.refused(v.at("events"), "There is no such view any more.")
	}
	if err != nil {
		return err
	}
	return v.done(v.at("events"), "The view was deleted. No event was.")
}
