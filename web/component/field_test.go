package component_test

import (
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/web/component"
)

func TestFieldTiesItsTextsToTheInput(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Field{
		Name: "url", Label: "URL", Value: "x", Hint: "Where events go.", Error: "Start with https://", Required: true,
		MinLength: 3, MaxLength: 200, Placeholder: "https://", Autocomplete: "url", InputMode: "url", Large: true, Mono: true,
	})
	input := one(t, doc, "input#url")
	got := map[string]string{}
	for _, a := range input.Nodes[0].Attr {
		got[a.Key] = a.Val
	}
	want := map[string]string{
		"aria-describedby": "url-error url-hint", "aria-invalid": "true", "autocomplete": "url", "class": "input",
		"data-mono": "", "data-size": "lg", "id": "url", "inputmode": "url", "maxlength": "200", "minlength": "3",
		"name": "url", "placeholder": "https://", "required": "", "type": "text", "value": "x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("input's attributes (-want +got):\n%s", diff)
	}
	if label := one(t, doc, `label[for="url"]`); text(label) != "URL" {
		t.Errorf("label = %q", text(label))
	}
	if text(one(t, doc, "#url-error")) != "Start with https://" || text(one(t, doc, "#url-hint")) != "Where events go." {
		t.Error("error or hint is missing")
	}
}

func TestFieldWithoutTextsSaysNothing(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Field{ID: "own", Name: "n", Label: "Name"})
	input := one(t, doc, "input#own")
	for _, name := range []string{"aria-invalid", "aria-describedby", "required", "placeholder", "minlength", "data-size"} {
		if _, there := input.Attr(name); there {
			t.Errorf("input has %s", name)
		}
	}
	if doc.Find(".err, .hint").Length() != 0 {
		t.Error("an empty error or hint is shown")
	}
	one(t, doc, `label[for="own"]`)
}

func TestPasswordIsNeverSentBack(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Field{Name: "password", Label: "Password", Type: "password", Value: "hunter2 hunter2"})
	if _, there := one(t, doc, "input").Attr("value"); there {
		t.Error("the password stands in the page")
	}
}

// A field gives back what was typed, byte for byte, so that sending the form
// again changes nothing.
func TestFieldsKeepTheirValue(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`"><script>`, "a\u202eb", "\n two lines \n", " spaces ", "'&amp;"} {
		if got := attr(one(t, render(t, component.Field{Name: "n", Value: value}), "input"), "value"); got != value {
			t.Errorf("input's value = %q, want %q", got, value)
		}
		if got := one(t, render(t, component.TextArea{Name: "n", Value: value}), "textarea").Text(); got != value {
			t.Errorf("text area's value = %q, want %q", got, value)
		}
		doc := render(t, component.Select{Name: "n", Options: []component.Option{{Value: value, Label: value, Selected: true}}})
		if got := attr(one(t, doc, "option[selected]"), "value"); got != value {
			t.Errorf("option's value = %q, want %q", got, value)
		}
	}
}

func TestEveryKindOfFieldShowsItsError(t *testing.T) {
	t.Parallel()
	for name, field := range map[string]templ.Component{
		"field":     component.Field{Name: "n", Error: "wrong"},
		"text area": component.TextArea{Name: "n", Error: "wrong"},
		"select":    component.Select{Name: "n", Error: "wrong", Options: []component.Option{{Value: "1"}}},
		"checkbox":  component.Checkbox{Name: "n", Error: "wrong"},
	} {
		doc := render(t, field)
		control := one(t, doc, `[aria-invalid="true"]`)
		if attr(control, "aria-describedby") != "n-error" || text(one(t, doc, "#n-error")) != "wrong" {
			t.Errorf("%s: the error is not tied to it", name)
		}
	}
	doc := render(t, component.RadioCards{Name: "n", Error: "wrong", Options: []component.Option{{Value: "1"}, {Value: "2"}}})
	if got := doc.Find(`input[aria-invalid="true"]`).Length(); got != 2 {
		t.Errorf("radio cards: %d of 2 are marked", got)
	}
	if attr(one(t, doc, "fieldset#n"), "aria-describedby") != "n-error" {
		t.Error("radio cards: the error is not tied to them")
	}
	doc = render(t, component.Checkboxes{Name: "n", Error: "wrong", Options: []component.Option{{Value: "1"}, {Value: "2", Selected: true}}})
	if got := doc.Find(`fieldset[aria-describedby="n-error"] input[aria-invalid="true"][aria-describedby="n-error"]`).Length(); got != 2 {
		t.Errorf("checkboxes: %d of 2 are marked", got)
	}
	if attr(one(t, doc, "input[checked]"), "value") != "2" {
		t.Error("checkboxes lost what was chosen")
	}
}

func TestChoices(t *testing.T) {
	t.Parallel()
	doc := group(t,
		component.Checkbox{Name: "keep", Label: "Keep", Checked: true},
		component.Checkbox{Name: "other", Value: "yes", Disabled: true},
		component.RadioCards{Name: "kind", Label: "Kind", Options: []component.Option{
			{Value: "stripe", Label: "Stripe", Selected: true}, {Value: "none", Label: "None", Disabled: true},
		}},
	)
	if attr(one(t, doc, "#keep[checked]"), "value") != "1" || attr(one(t, doc, "#other[disabled]:not([checked])"), "value") != "yes" {
		t.Error("checkboxes lost their state or value")
	}
	var values []string
	doc.Find(`input[type="radio"][name="kind"]`).Each(func(_ int, s *goquery.Selection) { values = append(values, attr(s, "value")) })
	if diff := cmp.Diff([]string{"stripe", "none"}, values); diff != "" {
		t.Errorf("radios (-want +got):\n%s", diff)
	}
	one(t, doc, `input[value="stripe"][checked]`)
	one(t, doc, `input[value="none"][disabled]`)
}

func TestErrorSummary(t *testing.T) {
	t.Parallel()
	if got := markup(t, component.ErrorSummary("Nothing", nil)); got != "" {
		t.Errorf("a summary of nothing is %q", got)
	}
	doc := render(t, component.ErrorSummary("Two things", []component.Problem{{Field: "url", Text: evil[0]}, {Text: "all of it"}}))
	if got := attr(one(t, doc, `[role="alert"] a`), "href"); got != "#url" {
		t.Errorf("link leads to %q", got)
	}
	if got := doc.Find("li").Length(); got != 2 {
		t.Errorf("%d problems, want 2", got)
	}
}
