package page_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// drawing draws a page from a view that a filler fills.
type drawing func(*filler) templ.Component

// of makes a drawing of a page's template.
func of[V any](draw func(V) templ.Component) drawing {
	return func(f *filler) templ.Component {
		var view V
		f.fill(&view)
		return draw(view)
	}
}

// everyPage is every template of the package, by its name.
var everyPage = map[string]drawing{
	"AcceptRequestAsk":        of(page.AcceptRequestAsk),
	"AccountsPage":            of(page.AccountsPage),
	"AlertsPage":              of(page.AlertsPage),
	"AppearancePage":          of(page.AppearancePage),
	"AuditPage":               of(page.AuditPage),
	"ClaimAsk":                of(page.ClaimAsk),
	"ClaimPage":               of(page.ClaimPage),
	"ClaimsPage":              of(page.ClaimsPage),
	"ConfigurationPage":       of(page.ConfigurationPage),
	"DeleteAccountAsk":        of(page.DeleteAccountAsk),
	"DeleteAsk":               of(page.DeleteAsk),
	"DeleteViewAsk":           of(page.DeleteViewAsk),
	"DeliveriesPage":          of(page.DeliveriesPage),
	"DeliveryPage":            of(page.DeliveryPage),
	"DismissAsk":              of(page.DismissAsk),
	"DocPage":                 of(page.DocPage),
	"DocsHomePage":            of(page.DocsHomePage),
	"EmailAsk":                of(page.EmailAsk),
	"LogInCodePage":           of(page.LogInCodePage),
	"PasswordAsk":             of(page.PasswordAsk),
	"RequireTwoStepAsk":       of(page.RequireTwoStepAsk),
	"TwoStepPage":             of(page.TwoStepPage),
	"EndInvitationQuestion":   of(page.EndInvitationQuestion),
	"EndOthersQuestion":       of(page.EndOthersQuestion),
	"EndSecretAsk":            of(page.EndSecretAsk),
	"ExtendSecretAsk":         of(page.ExtendSecretAsk),
	"EndpointFormPage":        of(page.EndpointFormPage),
	"EndpointPage":            of(page.EndpointPage),
	"EndpointsPage":           of(page.EndpointsPage),
	"EventPage":               of(page.EventPage),
	"EventPeek":               of(page.EventPeek),
	"EventTypeDeleteAsk":      of(page.EventTypeDeleteAsk),
	"EventTypeFormPage":       of(page.EventTypeFormPage),
	"EventTypePage":           of(page.EventTypePage),
	"EventTypesPage":          of(page.EventTypesPage),
	"UsagePage":               of(page.UsagePage),
	"EventsPage":              of(page.EventsPage),
	"FactsPage":               of(page.FactsPage),
	"FailedListPage":          of(page.FailedListPage),
	"FailuresPage":            of(page.FailuresPage),
	"FilterTried":             of(page.FilterTried),
	"ForgotPage":              of(page.ForgotPage),
	"InstanceAccountsPage":    of(page.InstanceAccountsPage),
	"InvitationsPage":         of(page.InvitationsPage),
	"HandOverAsk":             of(page.HandOverAsk),
	"InviteAsk":               of(page.InviteAsk),
	"JoinPage":                of(page.JoinPage),
	"KeyFormAsk":              of(page.KeyFormAsk),
	"MembersPage":             of(page.MembersPage),
	"RoleAsk":                 of(page.RoleAsk),
	"InstanceSettingsPage":    of(page.InstanceSettingsPage),
	"KeysPage":                of(page.KeysPage),
	"KitPage":                 of(page.KitPage),
	"LogInPage":               of(page.LogInPage),
	"LanesPage":               of(page.LanesPage),
	"MailPage":                of(page.MailPage),
	"MailsPage":               of(page.MailsPage),
	"NewAccountPage":          of(page.NewAccountPage),
	"BulkAsk":                 of(page.BulkAsk),
	"AttemptsPage":            of(page.AttemptsPage),
	"OperationPage":           of(page.OperationPage),
	"OperationsPage":          of(page.OperationsPage),
	"ReconcilePage":           of(page.ReconcilePage),
	"ReconciliationDeleteAsk": of(page.ReconciliationDeleteAsk),
	"ReconciliationPage":      of(page.ReconciliationPage),
	"ReconciliationsPage":     of(page.ReconciliationsPage),
	"RecoverAsk":              of(page.RecoverAsk),
	"StoragePage":             of(page.StoragePage),
	"StopOperationAsk":        of(page.StopOperationAsk),
	"OverviewPage":            of(page.OverviewPage),
	"ProfilePage":             of(page.ProfilePage),
	"QuestionForm":            of(page.QuestionForm),
	"RedeliverEventQuestion":  of(page.RedeliverEventQuestion),
	"RedeliverQuestion":       of(page.RedeliverQuestion),
	"RetentionPage":           of(page.RetentionPage),
	"ResetPage":               of(page.ResetPage),
	"RotateAsk":               of(page.RotateAsk),
	"SaveViewAsk":             of(page.SaveViewAsk),
	"SearchPage":              of(page.SearchPage),
	"SecurityPage":            of(page.SecurityPage),
	"SettingsPage":            of(page.SettingsPage),
	"SignUpPage":              of(page.SignUpPage),
	"SourceCatalogue":         of(page.SourceCatalogue),
	"SourceConsolePage":       of(page.SourceConsolePage),
	"SourceDeleteAsk":         of(page.SourceDeleteAsk),
	"SourceFormPage":          of(page.SourceFormPage),
	"SourcePage":              of(page.SourcePage),
	"SourceRequestPage":       of(page.SourceRequestPage),
	"SourceRotateAsk":         of(page.SourceRotateAsk),
	"SourceRulePage":          of(page.SourceRulePage),
	"SourcesPage":             of(page.SourcesPage),
	"SubjectFactPage":         of(page.SubjectFactPage),
	"TestAsk":                 of(page.TestAsk),
}

// everyFailure are the pages of the layout itself.
var everyFailure = map[string]drawing{
	"FailurePage": func(f *filler) templ.Component {
		var frame layout.Frame
		var why layout.Failure
		f.fill(&frame)
		f.fill(&why)
		return layout.FailurePage(frame, why)
	},
	"FailureEntrance": func(f *filler) templ.Component {
		var bare layout.Bare
		var why layout.Failure
		f.fill(&bare)
		f.fill(&why)
		return layout.FailureEntrance(bare, why)
	},
}

// TestEveryTemplateIsDrawn fails for a page that the tests of all pages do not
// know.
func TestEveryTemplateIsDrawn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_templ.go")
	if err != nil {
		t.Fatal(err)
	}
	var templates []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				templates = append(templates, f.Name.Name)
			}
		}
	}
	slices.Sort(templates)
	if known := slices.Sorted(maps.Keys(everyPage)); !slices.Equal(templates, known) {
		t.Errorf("the templates are %v, and everyPage has %v", templates, known)
	}
}

// asSent are texts as anybody can send them, to stand in every field of a view
// at once.
var asSent = map[string]string{
	"markup":  `"><script>alert(1)</script><img src=x onerror=alert(1)><style>*{display:none}</style>`,
	"hidden":  "invoice\u202egpj.exe\u2066 a\x00b\x1b[2Jc\r\nd\u200b\xff",
	"script":  "javascript:alert(1)//",
	"hurried": "\tJaVa\nScRiPt:alert(1)//",
	"long":    strings.Repeat("x", 10_000),
}

// formNames are names that fields of forms have; their errors and values are
// looked up by them.
var formNames = []string{"", "name", "email", "password", "account", "current", "secret", "url", "uid", "endpoint", "scopes", "kinds", "type", "header"}

// TestEveryPageShowsWhateverItIsGiven draws each page from texts as anybody can
// send them, in every field that it has.
func TestEveryPageShowsWhateverItIsGiven(t *testing.T) {
	t.Parallel()
	pages := maps.Clone(everyPage)
	maps.Copy(pages, everyFailure)
	for name, draw := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, text := range asSent {
				t.Run(kind, func(t *testing.T) {
					t.Parallel()
					drawn(t, draw(&filler{text: text, rows: 1, keys: formNames}))
					drawn(t, draw(&filler{text: text, rows: 1, keys: formNames, on: func(int) bool { return false }}))
				})
			}
			for _, rows := range []int{0, 2} {
				drawn(t, draw(&filler{text: asSent["markup"], rows: rows, keys: formNames}))
			}
		})
	}
}

// TestEveryPageWhateverIsChosen draws each page with each of its choices made,
// and not made, against all others.
func TestEveryPageWhateverIsChosen(t *testing.T) {
	t.Parallel()
	for name, draw := range everyPage {
		if name == "KitPage" { // the choices of its frame are those of every other
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := &filler{text: asSent["markup"], rows: 1}
			draw(all)
			for alone := range all.choices {
				drawn(t, draw(&filler{text: asSent["markup"], rows: 1, on: func(n int) bool { return n == alone+1 }}))
				drawn(t, draw(&filler{text: asSent["markup"], rows: 1, on: func(n int) bool { return n != alone+1 }}))
			}
		})
	}
}

// TestEveryFieldTellsWhatIsWrong marks every field of every form, and looks for
// the words beside it.
func TestEveryFieldTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, draw := range everyPage {
		if name == "KitPage" { // samples, which nothing answers
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, keys := enteredIn(drawn(t, draw(&filler{text: "fine ", rows: 1})))
			d := drawn(t, draw(&filler{text: "wrong ", rows: 1, keys: keys}))
			for _, name := range names {
				wantMarked(t, d, name)
			}
		})
	}
}

// form selects the forms in which somebody enters something that can be wrong.
const form = "form[method='post']:not([action='/me/appearance'])"

// enteredIn are the names of what can be entered in a page's forms, and the
// keys under which is told what is wrong there: of fields that are there more
// than once, their ids.
func enteredIn(d *goquery.Document) (names, keys []string) {
	for _, field := range d.Find(form).Find("input[name], select[name], textarea[name]").EachIter() {
		kind := field.AttrOr("type", "")
		name := field.AttrOr("name", "")
		keys = append(keys, name, field.AttrOr("id", name))
		if name == page.EndpointHeaderValue || kind == "hidden" || kind == "checkbox" || field.Is("[disabled], [readonly]") {
			continue // a header's row is marked at its name
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), keys
}

// wantMarked fails unless what has this name, or one of them, is invalid, and
// is described by what is wrong.
func wantMarked(t *testing.T, d *goquery.Document, name string) {
	t.Helper()
	for _, field := range d.Find(form + " [name='" + name + "'][aria-invalid='true']").EachIter() {
		for id := range strings.FieldsSeq(field.AttrOr("aria-describedby", "")) {
			if strings.Contains(d.Find("#"+id).Text(), "wrong ") {
				return
			}
		}
	}
	t.Errorf("nothing beside %s tells what is wrong with it", name)
}
