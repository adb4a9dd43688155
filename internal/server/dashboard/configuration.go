package dashboard

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/configuration"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// addConfigurationRoutes adds export and import.
func addConfigurationRoutes(r router) {
	r.within(get, "/settings/configuration", showConfiguration)
	r.within(get, "/settings/configuration/download", downloadConfiguration)
	r.managed(post, "/settings/configuration", importConfiguration)
}

func (v *visit) configurations() configuration.Service {
	return configuration.Service{Store: v.d.Store, Endpoints: v.d.Endpoints, Sources: v.d.Sources, EventTypes: v.d.EventTypes, Accounts: v.d.Accounts}
}

// configurationPage is the page, with what came of a document.
func (v *visit) configurationPage(status int, view page.Configuration) (err error) {
	if view.Frame, _, err = v.frame("Export and import", layout.SectionSettings); err != nil {
		return err
	}
	view.Action, view.Download = v.at("settings", "configuration"), v.at("settings", "configuration", "download")
	view.Manages = v.may(gateway.PermConfigure)
	return v.render(status, page.ConfigurationPage(view))
}

func showConfiguration(v *visit) error {
	return v.configurationPage(http.StatusOK, page.Configuration{})
}

func downloadConfiguration(v *visit) error {
	doc, err := v.configurations().Export(v.ctx(), v.account(), v.actor())
	if err != nil {
		return err
	}
	text, err := doc.JSON()
	if err != nil {
		return err
	}
	h := v.Response().Header()
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", v.membership.Account.Slug+"-configuration.json"))
	return v.Blob(http.StatusOK, echo.MIMEApplicationJSON, text)
}

// importConfiguration tells what would become of a file, or has it done where
// that was seen. Nothing is redirected to: what is shown is the answer, and
// sending it again changes nothing more.
func importConfiguration(v *visit) error {
	s, err := v.readList()
	if err != nil {
		return err
	}
	text, err := s.document()
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		s.wrong(fieldList, "Choose a file, or paste one.")
	}
	if !s.ok() {
		return v.configurationPage(http.StatusUnprocessableEntity, page.Configuration{Pasted: s.raw(fieldPasted), Errors: s.errors})
	}
	dry := !s.checked("apply")
	report, err := v.configurations().Import(v.ctx(), v.account(), v.actor(), []byte(text), dry)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Status < http.StatusInternalServerError {
		s.wrong(s.field(), "This is no configuration: "+strings.TrimPrefix(p.Detail, "body."))
		return v.configurationPage(http.StatusUnprocessableEntity, page.Configuration{Pasted: s.raw(fieldPasted), Errors: s.errors})
	}
	if err != nil {
		return err
	}
	view := v.configurationReport(report)
	view.Document = text
	return v.configurationPage(http.StatusOK, page.Configuration{Report: &view})
}

// document is the file, or what was pasted.
func (s sentList) document() (string, error) {
	if s.list == nil {
		return "", nil
	}
	text, err := io.ReadAll(io.LimitReader(s.list, maxForm+1))
	switch {
	case err != nil:
		return "", broken(err)
	case len(text) > maxForm:
		return "", &body.TooLargeError{Limit: maxForm}
	}
	return string(text), nil
}

// field is where the document was given.
func (s sentList) field() string {
	if s.name != "" {
		return fieldList
	}
	return fieldPasted
}

// kindWords name kinds of objects, for people.
var kindWords = map[configuration.Kind]string{
	configuration.KindEventType: "Event type", configuration.KindSource: "Source", configuration.KindEndpoint: "Endpoint",
}

func (v *visit) configurationReport(r configuration.Report) page.ConfigurationReport {
	view := page.ConfigurationReport{
		DryRun: r.DryRun, Created: r.Count(configuration.Created), Changed: r.Count(configuration.Changed),
		Unchanged: r.Count(configuration.Unchanged), Refused: r.Count(configuration.Refused),
	}
	for _, one := range r.Results {
		row := page.ConfigurationRow{Kind: kindWords[one.Kind], Name: one.Name, Href: v.configuredHref(one, r.DryRun), Outcome: string(one.Outcome)}
		if row.Name == "" {
			row.Name = "without a uid"
		}
		if len(one.Changes) > 0 {
			row.About = append(row.About, "Differs in "+strings.Join(one.Changes, ", ")+".")
		}
		row.About = append(row.About, one.Notes...)
		for _, fault := range one.Errors {
			row.About = append(row.About, strings.TrimPrefix(fault.Location, "body.")+": "+fault.Message)
		}
		view.Rows = append(view.Rows, row)
	}
	return view
}

// configuredHref leads to an object that is there.
func (v *visit) configuredHref(r configuration.Result, dryRun bool) string {
	switch {
	case r.Kind == configuration.KindEventType && (r.Outcome == configuration.Changed || r.Outcome == configuration.Unchanged || r.Outcome == configuration.Created && !dryRun):
		return v.typePath(r.Name)
	case r.ID == "":
		return ""
	case r.Kind == configuration.KindSource:
		return v.at("sources", r.ID)
	default:
		return v.at("endpoints", r.ID)
	}
}
