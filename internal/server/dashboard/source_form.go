package dashboard

import (
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// The fields of the forms about sources, beside fieldName and the settings'.
const (
	fieldKind     = "kind"
	fieldUID      = "uid"
	fieldSecret   = "secret"
	fieldLater    = "later"
	fieldOverlap  = "overlap"
	fieldSettings = "settings"
	// fieldGenerate asks for a secret that is made up.
	fieldGenerate = "generate"
	// paramField leads to one of the fields.
	paramField = "field"
)

// showNewSource asks for the kind of a new source, and then for the rest.
func showNewSource(v *visit) error {
	kind := v.QueryParam(fieldKind)
	if _, ok := signature.Lookup(kind); !ok {
		return showCatalogue(v)
	}
	view, err := v.sourceForm("Add source", kind)
	if err != nil {
		return err
	}
	view.Chosen = map[string]string{}
	if view.Kind.Service {
		view.Chosen[fieldName] = view.Kind.Name
	}
	return v.page(page.SourceFormPage(view))
}

// maxSearch is longer than anybody looks for, in bytes.
const maxSearch = 100

// showCatalogue asks for the kind of a new source.
func showCatalogue(v *visit) error {
	frame, _, err := v.frame("Add source", layout.SectionSources)
	if err != nil {
		return err
	}
	search := strings.ToValidUTF8(v.QueryParam("q"), "")
	search = search[:min(len(search), maxSearch)]
	return v.page(page.SourceCatalogue(page.Catalogue{
		Frame: frame, Search: search, Groups: catalogue(search), All: len(signature.Kinds()),
	}))
}

// sourceForm is the form for a kind of source.
func (v *visit) sourceForm(title, kind string) (page.SourceForm, error) {
	frame, _, err := v.frame(title, layout.SectionSources)
	return page.SourceForm{Frame: frame, Kind: kindOf(kind), Protects: protects(gateway.Source{Kind: kind})}, err
}

func addSource(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	kind := f.text(fieldKind)
	if _, ok := signature.Lookup(kind); !ok {
		return v.redirect(v.at("sources", "new"))
	}
	if f.checked(fieldGenerate) {
		return v.generatedSecret(f, kind)
	}
	if f.ok() {
		made, err := v.d.Sources.Create(v.ctx(), v.account(), v.actor(), newSource(f, kind))
		if err == nil {
			return v.done(v.at("sources", made.ID.String()), "Source added.")
		}
		if !f.takeSource(err, kindOf(kind)) {
			return err
		}
	}
	view, err := v.sourceForm("Add source", kind)
	if err != nil {
		return err
	}
	view.Chosen, view.Errors = chosenOf(f, view.Kind), f.errors
	return v.invalid(page.SourceFormPage(view))
}

// generatedSecret shows the form again with a secret that was made up, where
// the operator would have to make one up.
func (v *visit) generatedSecret(f form, kind string) error {
	view, err := v.sourceForm("Add source", kind)
	if err != nil {
		return err
	}
	view.Chosen = chosenOf(f, view.Kind)
	if view.Kind.MadeUp {
		view.Generated = secret.NewToken("")
	}
	return v.page(page.SourceFormPage(view))
}

// newSource is what the use case takes of the form.
func newSource(f form, kind string) source.Input {
	words := kindOf(kind)
	in := source.Input{Name: new(f.text(fieldName)), Kind: &kind, Settings: settingsOf(f, words, nil)}
	if uid := f.text(fieldUID); uid != "" {
		in.UID = &uid
	}
	switch pasted := f.raw(fieldSecret); {
	case words.Secret == "", words.Captured && pasted == "":
	case pasted == "" && words.SecretAfter && f.checked(fieldLater):
		in.Later = true
	default:
		in.Secret = &pasted
	}
	return in
}

func showEditSource(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	view, err := v.editForm(s)
	if err != nil {
		return err
	}
	view.Chosen, view.Unfold = choicesOf(s.Settings), v.QueryParam(paramField) != ""
	view.Chosen[fieldName], view.Chosen[fieldUID] = s.Name, valueOf(s.UID)
	return v.page(page.SourceFormPage(view))
}

func (v *visit) editForm(s gateway.Source) (page.SourceForm, error) {
	view, err := v.sourceForm(s.Name, s.Kind)
	view.Path, view.Protects = v.at("sources", s.ID.String()), protects(s)
	return view, err
}

func editSource(v *visit) error {
	s, f, err := v.postedSource()
	if err != nil {
		return err
	}
	if f.ok() {
		change := source.Input{Name: new(f.text(fieldName)), UID: new(f.text(fieldUID)), Settings: settingsOf(f, kindOf(s.Kind), s.Settings)}
		_, err := v.d.Sources.Update(v.ctx(), v.account(), v.actor(), s.ID, change)
		if err == nil {
			return v.done(v.at("sources", s.ID.String()), "Source saved.")
		}
		if !f.takeSource(err, kindOf(s.Kind)) {
			return err
		}
	}
	view, err := v.editForm(s)
	if err != nil {
		return err
	}
	view.Chosen, view.Errors = chosenOf(f, view.Kind), f.errors
	return v.invalid(page.SourceFormPage(view))
}
