package page_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/component"
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
	wantNumber(t, doc, `#signed input[name="secret"]`, 1)
	wantNumber(t, doc, "#endpoint details", 7)
	wantNumber(t, doc, "#endpoint details[open]", 0)
	wantNumber(t, doc, `#signature input[value="v1"][checked]`, 1)
	wantNumber(t, doc, `#auth input[value="none"][checked]`, 1)
	wantNumber(t, doc, "#try-receiver", 0)
	wantNumber(t, doc, `#retry_schedule[placeholder="5s, 5m"]`, 1)
	// Every field has a name for those who do not see it.
	for _, n := range doc.Find("#endpoint :is(input, textarea, select)").Nodes {
		named := doc.FindNodes(n).Closest("label").Length() == 1
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
		page.EndpointFilter, page.EndpointRateLimit, page.EndpointFailover, page.EndpointAuthUsername, page.EndpointAuthPassword, page.EndpointAuthToken,
	}
	for _, field := range fields {
		f.Errors[field] = "Wrong: " + field
	}
	doc := drawn(t, page.EndpointFormPage(f))
	for _, field := range fields {
		wantWords(t, doc, "#"+field+"-error", "Wrong: "+field)
		wantNumber(t, doc, "#"+field+`[aria-invalid="true"][aria-describedby*="`+field+`-error"]`, 1)
	}
	wantNumber(t, doc, "#endpoint details[open]", 6)
	wantWords(t, doc, "#headers", "Too many.")
	wantWords(t, doc, "main", "Something about all.")
}

// A part that is closed at first is open where something in it was chosen, or
// is wrong, and no other is.
func TestEndpointFormOpensWhatIsNotUsual(t *testing.T) {
	t.Parallel()
	wrong := func(field string) func(*page.EndpointForm) {
		return func(f *page.EndpointForm) { f.Errors = page.Errors{field: "Wrong."} }
	}
	for name, c := range map[string]struct {
		change func(*page.EndpointForm)
		open   string
	}{
		"uid":               {func(f *page.EndpointForm) { f.UID = "x" }, "own-name"},
		"wrong uid":         {wrong(page.EndpointUID), "own-name"},
		"filter":            {func(f *page.EndpointForm) { f.Filter = "true" }, "filter-part"},
		"wrong filter":      {wrong(page.EndpointFilter), "filter-part"},
		"timeout":           {func(f *page.EndpointForm) { f.Timeout = "1s" }, "how"},
		"in flight":         {func(f *page.EndpointForm) { f.MaxInFlight = "1" }, "how"},
		"rate limit":        {func(f *page.EndpointForm) { f.RateLimit = "1" }, "how"},
		"wrong schedule":    {wrong(page.EndpointRetrySchedule), "how"},
		"key pair":          {func(f *page.EndpointForm) { f.Signature = "v1a" }, "signed"},
		"wrong secret":      {wrong(page.EndpointSecretField), "signed"},
		"basic":             {func(f *page.EndpointForm) { f.Auth = "basic" }, "door"},
		"wrong token":       {wrong(page.EndpointAuthToken), "door"},
		"wrong header":      {wrong(page.EndpointHeaderRow(2)), "door"},
		"too many headers":  {wrong(page.EndpointHeaders), "door"},
		"failover":          {func(f *page.EndpointForm) { f.Failover = "ep_x" }, "if-it-fails"},
		"wrong failover":    {wrong(page.EndpointFailover), "if-it-fails"},
		"the usual, chosen": {func(f *page.EndpointForm) { f.MaxInFlight, f.Signature, f.Auth = "64", "v1", "none" }, ""},
	} {
		f := endpointForm()
		c.change(&f)
		opened := drawn(t, page.EndpointFormPage(f)).Find("#endpoint details[open]")
		if got := opened.AttrOr("id", ""); got != c.open || opened.Length() > 1 {
			t.Errorf("%s opens %q and %d in all, want %q", name, got, opened.Length(), c.open)
		}
	}
}

func TestEndpointFormOfOneWithEverything(t *testing.T) {
	t.Parallel()
	f := endpointForm()
	f.New, f.Local = false, true
	f.Signature, f.Auth, f.StoredAuth, f.Failover = "v1a", "basic", "basic", "ep_b"
	f.Others = []component.Option{{Value: "ep_a", Label: "A"}, {Value: "ep_b", Label: hostile}}
	doc := drawn(t, page.EndpointFormPage(f))
	wantNumber(t, doc, `#signature input[value="v1a"][checked]`, 1)
	wantNumber(t, doc, `#auth input[value="basic"][checked]`, 1)
	wantNumber(t, doc, `#failover option[value="ep_b"][selected]`, 1)
	wantNumber(t, doc, `#failover option`, 3)
	wantWords(t, doc, "#auth_username-hint", "Leave it empty to keep what is stored.")
	wantWords(t, doc, "#auth_password-hint", "Leave it empty to keep what is stored.")
	wantWords(t, doc, "#auth_token-hint", "Without “Bearer” before it.")
	wantWords(t, doc, "#signature-hint", "The present one signs beside it for 24 hours.")
	wantNumber(t, doc, `input[type="password"][value]`, 0)
	wantNumber(t, doc, "#try-receiver", 0) // there is one already
}

// Who has nothing to receive with is told what to run, where that can be
// reached.
func TestEndpointFormOffersAReceiver(t *testing.T) {
	t.Parallel()
	f := endpointForm()
	f.Local = true
	doc := drawn(t, page.EndpointFormPage(f))
	wantNumber(t, doc, `#try-receiver [data-copy="rowlock receiver --listen 127.0.0.1:9000"]`, 1)
	wantNumber(t, doc, `#try-receiver [data-copy="http://127.0.0.1:9000/"]`, 1)
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
		"test":         {page.TestAsk(page.TestQuestion{EndpointQuestion: q, Types: []string{"order.created"}}), "One request to ERP <b>sync alone, now, whatever its state. The answer shows at once. It is not retried; one that fails is shown under Failures.", `datalist option[value="order.created"]`},
		"test again":   {page.TestAsk(page.TestQuestion{EndpointQuestion: wrong}), "Reserved.", `#type[aria-invalid][value="ERP"]`},
		"delete":       {page.DeleteAsk(q), "Type the endpoint’s name to delete it ERP <b>sync", `#name[required]`},
		"delete again": {page.DeleteAsk(wrong), "This is not its name.", `#name[aria-invalid][value="ERP"]`},
		"rotate": {page.RotateAsk(page.RotateQuestion{
			EndpointQuestion: q, Older: []string{"41m 38s"},
		}), "1 older secret still signs. One ends in 41m 38s.", `select#overlap option[value="24h"][selected]`},
		"rotate again": {page.RotateAsk(page.RotateQuestion{EndpointQuestion: wrong}), "Too short.", `details[open] #secret[aria-invalid][value=""]`},
		"extend":       {page.ExtendSecretAsk(page.ExtendSecretQuestion{EndpointQuestion: q, Left: "41m 38s"}), "Left alone, it ends in 41m 38s.", `select#overlap option[value="24h"]`},
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

// What is offered first is longer than what is left anyway.
func TestExtensionBeyond(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{0: "24h", 22 * time.Hour: "24h", 24 * time.Hour: "168h", 167 * time.Hour: "720h", 720 * time.Hour: "720h"} {
		if got := page.ExtensionBeyond(left); got != want || !page.IsExtension(got) {
			t.Errorf("beyond %v: %s, want %s", left, got, want)
		}
	}
	if page.IsExtension("0s") || page.IsExtension("1y") {
		t.Error("a secret is extended by nothing")
	}
}
