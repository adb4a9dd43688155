package api

import (
	"bytes"
	_ "embed" // for the page and its style
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/server/problem"
)

//go:embed docs.css
var docsStyle []byte

//go:embed docs.html
var docsTemplate string

// docsView is what the page shows.
type docsView struct {
	Title, Version string
	Introduction   []string
	Sections       []docsSection
	OwnEvents      []docsEvent
	Schemas        []docsSchema
	Problems       []problem.Meaning
}

// docsSection is the operations of one tag.
type docsSection struct {
	Name, Description string
	Operations        []docsOperation
}

// docsOperation is one operation.
type docsOperation struct {
	ID, Method, Path, Summary string
	Scope                     string
	Description               []string
	Parameters                []docsField
	Body                      []docsField
	Answers                   []docsAnswer
	Example                   string
}

// docsEvent is one of Rowlock's own events.
type docsEvent struct{ Type, Text, Schema string }

// docsAnswer is one status that an operation answers with.
type docsAnswer struct {
	Status, Text, Schema string
}

// docsSchema is one form of an object.
type docsSchema struct {
	Name   string
	Fields []docsField
}

// docsField is a parameter, or a field of a body or schema.
type docsField struct {
	Name, In, Type, Schema, Text string
	Required                     bool
}

// docsPage renders the page out of the OpenAPI document.
func (a *API) docsPage() ([]byte, error) {
	page, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse the documentation's page: %w", err)
	}
	var out bytes.Buffer
	if err := page.Execute(&out, a.docsView()); err != nil {
		return nil, fmt.Errorf("render the documentation's page: %w", err)
	}
	return out.Bytes(), nil
}

func (a *API) docsView() docsView {
	doc := a.huma.OpenAPI()
	view := docsView{
		Title: doc.Info.Title, Version: doc.Info.Version,
		Introduction: paragraphs(doc.Info.Description), Problems: problem.Meanings,
	}
	for _, tag := range doc.Tags {
		section := docsSection{Name: tag.Name, Description: tag.Description}
		for _, r := range a.routes {
			if r.tag == tag.Name {
				section.Operations = append(section.Operations, a.docsOperation(r))
			}
		}
		view.Sections = append(view.Sections, section)
	}
	for _, e := range ownEvents {
		view.OwnEvents = append(view.OwnEvents, docsEvent{e.name, e.about, schemaName(e.data, "")})
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		view.Schemas = append(view.Schemas, docsSchema{name, a.docsFields(schemas[name])})
	}
	return view
}

func (a *API) docsOperation(r route) docsOperation {
	op := a.documented(r)
	view := docsOperation{
		ID: r.id, Method: r.method, Path: Prefix + r.path, Summary: r.summary, Scope: string(r.needs.Scope()),
		Description: paragraphs(r.about), Answers: docsAnswers(op), Example: a.example(r, op),
	}
	for _, p := range op.Parameters {
		view.Parameters = append(view.Parameters, a.docsField(p.Name, p.In, p.Required, p.Schema))
	}
	if sent := jsonBody(op); sent != nil {
		view.Body = a.docsFields(sent)
	}
	return view
}

func docsAnswers(op *huma.Operation) []docsAnswer {
	var answers []docsAnswer
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		answer := docsAnswer{Status: status, Text: op.Responses[status].Description}
		for _, content := range op.Responses[status].Content {
			answer.Schema = refName(content.Schema)
		}
		answers = append(answers, answer)
	}
	return answers
}

// docsFields lists an object's fields, the required ones first.
func (a *API) docsFields(s *huma.Schema) []docsField {
	s = a.resolve(s)
	fields := make([]docsField, 0, len(s.Properties))
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fields = append(fields, a.docsField(name, "", slices.Contains(s.Required, name), s.Properties[name]))
	}
	slices.SortStableFunc(fields, func(x, y docsField) int {
		switch {
		case x.Required == y.Required:
			return 0
		case x.Required:
			return -1
		default:
			return 1
		}
	})
	return fields
}

func (a *API) docsField(name, in string, required bool, s *huma.Schema) docsField {
	field := docsField{Name: name, In: in, Required: required, Type: typeName(s), Schema: refName(s), Text: s.Description}
	if s.Items != nil {
		field.Schema = refName(s.Items)
	}
	if len(s.Enum) > 0 {
		field.Text = strings.TrimSpace(field.Text + " One of: " + joined(s.Enum) + ".")
	}
	if s.Default != nil {
		field.Text = strings.TrimSpace(field.Text + fmt.Sprintf(" Default: %v.", s.Default))
	}
	return field
}

func joined(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// typeName says a schema's type in a word or two.
func typeName(s *huma.Schema) string {
	switch {
	case s.Ref != "":
		return refName(s)
	case s.Type == huma.TypeArray && s.Items != nil:
		return "array of " + typeName(s.Items)
	case s.Format == "date-time":
		return "time"
	case s.Type == "":
		return "any JSON"
	default:
		return s.Type
	}
}

func refName(s *huma.Schema) string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

func (a *API) resolve(s *huma.Schema) *huma.Schema {
	if s.Ref != "" {
		return a.huma.OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

// example is a call for the command line.
func (a *API) example(r route, op *huma.Operation) string {
	var out strings.Builder
	out.WriteString("curl")
	if r.method != http.MethodGet {
		out.WriteString(" -X " + r.method)
	}
	out.WriteString(` "` + a.BaseURL + Prefix + pathVariables(r.path) + exampleQuery(op) + `"`)
	out.WriteString(" \\\n  -H \"Authorization: Bearer $ROWLOCK_API_KEY\"")
	sent := jsonBody(op)
	if sent == nil {
		return out.String() + exampleUpload(op)
	}
	body, err := json.MarshalIndent(a.exampleOf(sent), "  ", "  ")
	if err == nil && string(body) != "{}" {
		out.WriteString(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '" + string(body) + "'")
	}
	return out.String()
}

// jsonBody is the form of the JSON that an operation takes; nil for none.
func jsonBody(op *huma.Operation) *huma.Schema {
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	return op.RequestBody.Content["application/json"].Schema
}

// exampleQuery are the parameters that a call cannot do without.
func exampleQuery(op *huma.Operation) string {
	var needed []string
	for _, p := range op.Parameters {
		if p.In == "query" && p.Required {
			needed = append(needed, p.Name+"=$"+strings.ToUpper(p.Name))
		}
	}
	if len(needed) == 0 {
		return ""
	}
	return "?" + strings.Join(needed, "&")
}

// exampleUpload sends a file, where an operation takes one.
func exampleUpload(op *huma.Operation) string {
	if op.RequestBody == nil {
		return ""
	}
	return " \\\n  -H \"Content-Type: text/csv\" \\\n  --data-binary @list.csv"
}

// pathVariables writes {id} as $ID, for the shell.
func pathVariables(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			parts[i] = "$" + strings.ToUpper(strings.TrimSuffix(name, "}"))
		}
	}
	return strings.Join(parts, "/")
}

// exampleOf fills an object with what its fields give as examples.
func (a *API) exampleOf(s *huma.Schema) any {
	s = a.resolve(s)
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Type == huma.TypeArray && s.Items != nil:
		return []any{a.exampleOf(s.Items)}
	case s.Type != huma.TypeObject:
		return nil
	}
	object := map[string]any{}
	for name, property := range s.Properties {
		if value := a.exampleOf(property); value != nil {
			object[name] = value
		}
	}
	return object
}

// paragraphs splits a text at its empty lines.
func paragraphs(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n\n")
}
