package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// completeForms says of the forms in the document what the tags of fields
// cannot.
func (a *API) completeForms() {
	a.openForms()
	forms := a.huma.OpenAPI().Components.Schemas.Map()
	forms["NewSourceBody"].Properties["kind"].Enum = kinds()
	forms["Source"].Properties["kind"].Enum = append(kinds(), gateway.SourceKindAPI)
	for _, name := range []string{"NewSourceBody", "ChangeSourceBody", "ConfiguredSourceBody", "Source"} {
		settings := forms[name].Properties["settings"]
		settings.Type, settings.AdditionalProperties = huma.TypeObject, true
		settings.Nullable = name != "Source"
	}
	// Known so that they can be refused with advice.
	delete(forms["ChangeEndpointBody"].Properties, "secret")
	delete(forms["ChangeSourceBody"].Properties, "secret")
	delete(forms["ChangeSourceBody"].Properties, "kind")
	a.describePayload()
	a.describeReport()
	a.describeExport()
}

// openForms lets the forms of answers have more fields than they have today, so
// that a client that was made from the document survives a new one. Bodies
// stay closed: there an unknown field is refused.
func (a *API) openForms() {
	for name, form := range a.huma.OpenAPI().Components.Schemas.Map() {
		if form.AdditionalProperties == false && !strings.HasSuffix(name, "Body") {
			form.AdditionalProperties = nil
		}
	}
}

// describePayload says that a payload comes as its bytes, and not as a JSON
// text of them.
func (a *API) describePayload() {
	a.huma.OpenAPI().Paths["/events/{id}/payload"].Get.Responses["200"].Content = map[string]*huma.MediaType{
		payloadJSON:  {Schema: &huma.Schema{Description: "The payload, byte for byte, where it came as JSON."}},
		payloadBytes: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "The payload, byte for byte, in every other case."}},
	}
}

// describeReport says that a report comes as CSV.
func (a *API) describeReport() {
	a.huma.OpenAPI().Paths["/reconciliations/{id}/report"].Get.Responses["200"].Content = map[string]*huma.MediaType{
		"text/csv": {Schema: &huma.Schema{Type: huma.TypeString, Description: "A row for each thing that was found, with the names of the columns above."}},
	}
}

// describeExport says in which forms events are exported.
func (a *API) describeExport() {
	a.huma.OpenAPI().Paths["/events/export"].Get.Responses["200"].Content = map[string]*huma.MediaType{
		"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString, Description: "An event a line, with the fields of a list and progress, deliveries and delivered: how far it got, how many deliveries it has, and how many of these were confirmed."}},
		"text/csv":             {Schema: &huma.Schema{Type: huma.TypeString, Description: "An event a row, with the names of the columns above. What a program for tables would take for a formula begins with a quote."}},
	}
}

func kinds() []any {
	var all []any
	for _, kind := range signature.Kinds() {
		all = append(all, kind)
	}
	return all
}
