package page_test

import (
	"strconv"
	"testing"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

func endpointForm() page.EndpointForm {
	return page.EndpointForm{
		Frame: framed(), New: true, Action: "/a/acme/endpoints/new", Cancel: "/a/acme/endpoints",
		ServerTimeout: "15s", ServerSchedule: "5s, 5m",
	}
}

func TestEndpointFormOfANewOne(t *testing.T) {
	t.Parallel()
	doc := drawn(t, page.EndpointFormPage(endpointForm()))
	wantNumber(t, doc, `form#endpoint[method="post"][action="/a/acme/endpoints/new"]`, 1)
	wantNumber(t, doc, `#endpoint input[name="header_name"]`, 3)
	wantNumber(t, doc, `#endpoint input[name="header_value"]`, 3)
	wantNumber(t, doc, `#advanced input[name="secret"]`, 1)
	wantNumber(t, doc, "#advanced[open]", 0)
	wantNumber(t, doc, `#retry_schedule[placeholder="5s, 5m"]`, 1)
	// Every field has a name for those who do not see it.
	for _, n := range doc.Find("#endpoint :is(input, textarea)").Nodes {
		named := false
		for _, a := range n.Attr {
			named = named || a.Key == "aria-label" || a.Key == "id" && doc.Find(`label[for="`+a.Val+`"]`).Length() == 1
		}
		if !named {
			t.Errorf("a field has no label: %v", n.Attr)
		}
	}
}

// Each mistake stands beside its field and is tied to it.
func TestEndpointFormTellsMistakesBesideTheirFields(t *testing.T) {
	t.Parallel()
	f := endpointForm()
	f.Headers = []page.EndpointHeader{{Name: "X-A", Value: "1"}, {Name: "Host", Value: "2"}}
	f.Errors = page.Errors{"": "Something about all.", page.EndpointHeaders: "Too many."}
	fields := []string{
		page.EndpointURL, page.EndpointDescription, page.EndpointEventTypes, page.EndpointTimeout, page.EndpointRetrySchedule,
		page.EndpointMaxInFlight, page.EndpointStopOn, page.EndpointUID, page.EndpointSecretField, page.EndpointHeaderRow(1),
	}
	for _, field := range fields {
		f.Errors[field] = "Wrong: " + field
	}
	doc := drawn(t, page.EndpointFormPage(f))
	for _, field := range fields {
		wantWords(t, doc, "#"+field+"-error", "Wrong: "+field)
		wantNumber(t, doc, "#"+field+`[aria-invalid="true"][aria-describedby*="`+field+`-error"]`, 1)
	}
	wantNumber(t, doc, "#advanced[open]", 1)
	wantWords(t, doc, "#headers", "Too many.")
	wantWords(t, doc, "main", "Something about all.")
}

func TestEndpointFormKeepsWhatWasEntered(t *testing.T) {
	t.Parallel()
	f := endpointForm()
	f.New, f.Name = false, "ERP sync"
	f.URL, f.Description, f.EventTypes, f.UID = hostile, hostile, hostile, hostile
	for n := range 31 {
		f.Headers = append(f.Headers, page.EndpointHeader{Name: "X-" + strconv.Itoa(n), Value: `"><script>`})
	}
	var names []string
	doc := drawn(t, page.EndpointFormPage(f))
	for _, n := range doc.Find(`input[name="header_name"]`).Nodes {
		for _, a := range n.Attr {
			if a.Key == "value" {
				names = append(names, a.Val)
			}
		}
	}
	if len(names) != 32 || names[0] != "X-0" || names[30] != "X-30" || names[31] != "" {
		t.Errorf("headers became %q", names)
	}
	if got := doc.Find("#header-1-value").AttrOr("value", ""); got != `"><script>` {
		t.Errorf("a value became %q", got)
	}
	wantNumber(t, doc, `input[name="secret"]`, 0)
	wantNumber(t, doc, "main script", 0)
}

func TestEndpointQuestions(t *testing.T) {
	t.Parallel()
	q := page.EndpointQuestion{Name: "ERP <b>sync", Action: "/act", Cancel: "/back", Heading: true}
	wrong := q
	wrong.Entered, wrong.Errors = "ERP", page.Errors{"name": "This is not its name.", "type": "Reserved.", "secret": "Too short."}
	for name, c := range map[string]struct {
		shown templ.Component
		says  string
		has   string
	}{
		"test":           {page.TestAsk(page.TestQuestion{EndpointQuestion: q, Types: []string{"order.created"}}), "One request to ERP <b>sync alone, now, whatever its state. The answer shows at once. It is not retried; one that fails is shown under Failures.", `datalist option[value="order.created"]`},
		"test again":     {page.TestAsk(page.TestQuestion{EndpointQuestion: wrong}), "Reserved.", `#type[aria-invalid][value="ERP"]`},
		"pause":          {page.PauseAsk(page.PauseQuestion{EndpointQuestion: q, State: gateway.EndpointActive}), "Nothing is sent any more. Requests that are under way finish. Events go on coming in, and what is for this endpoint is held. It goes on when somebody resumes it, and what was being retried keeps its schedule.", "h1"},
		"pause disabled": {page.PauseAsk(page.PauseQuestion{EndpointQuestion: q, State: gateway.EndpointDisabled}), "disabled it already", "h1"},
		"delete":         {page.DeleteAsk(q), "Type the endpoint’s name to delete it ERP <b>sync", `#name[required]`},
		"delete again":   {page.DeleteAsk(wrong), "This is not its name.", `#name[aria-invalid][value="ERP"]`},
		"rotate": {page.RotateAsk(page.RotateQuestion{
			EndpointQuestion: q, Older: []string{"41m 38s"},
		}), "1 older secret still signs. One ends in 41m 38s.", `select#overlap option[value="24h"][selected]`},
		"rotate again": {page.RotateAsk(page.RotateQuestion{EndpointQuestion: wrong}), "Too short.", `details[open] #secret[aria-invalid][value=""]`},
		"end":          {page.EndSecretAsk(page.EndSecretQuestion{EndpointQuestion: q, Left: "41m 38s"}), "Left alone, it ends in 41m 38s.", "h1"},
	} {
		doc := drawn(t, c.shown)
		wantWords(t, doc, `form[method="post"][action="/act"]`, c.says)
		if doc.Find(c.has).Length() != 1 {
			t.Errorf("%s has no %s", name, c.has)
		}
		wantNumber(t, doc, `a[href="/back"]`, 1)
		wantNumber(t, doc, "form b", 0)
	}
}
