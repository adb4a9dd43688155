package api

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/server/resource"
)

// securityScheme is the name of the API key in the OpenAPI document.
const securityScheme = "apiKey"

// The library keeps two choices in variables of its package.
func init() {
	// What is made here are problems as everywhere else.
	huma.NewErrorWithContext = func(_ huma.Context, status int, message string, errs ...error) huma.StatusError {
		return fromLibrary(status, message, errs...)
	}
	huma.NewError = fromLibrary
	// A list of ours is never null.
	huma.DefaultArrayNullable = false
}

// fromLibrary turns the library's errors into a problem. What it found wrong
// it tells with place and value; the value is dropped.
func fromLibrary(status int, _ string, errs ...error) huma.StatusError {
	p := problem.FromStatus(status)
	if len(errs) == 0 || p.Code == problem.Internal {
		return p
	}
	faults := make([]problem.Fault, 0, len(errs))
	for _, err := range errs {
		if detailed, ok := err.(huma.ErrorDetailer); ok {
			d := detailed.ErrorDetail()
			faults = append(faults, problem.Fault{Message: strings.TrimPrefix(d.Message, ownMessage), Location: plainLocation(d.Location)})
		}
	}
	return problem.New(p.Code, "", faults...)
}

// ownMessage is what the library puts before an error of a type of ours.
const ownMessage = "invalid value: "

// plainLocation leaves out a name that the caller made up and that does not
// look like one.
func plainLocation(location string) string {
	const longest = 60
	in, name, ok := strings.Cut(location, ".")
	if !ok || len(name) > longest || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return in
	}
	return location
}

func newConfig(o Options) huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:       "Rowlock API",
				Version:     o.Version,
				Description: introduction,
				License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Servers: []*huma.Server{{URL: o.BaseURL + Prefix}},
			Components: &huma.Components{
				Schemas: newRegistry(),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					securityScheme: {Type: "http", Scheme: "bearer", Description: "An API key: rk_…"},
				},
			},
			Tags: tags,
		},
		Formats:                      huma.DefaultFormats,
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
	}
}

// newRegistry makes the document's collection of schemas. A field that knows
// whether it was given is to readers what it holds.
func newRegistry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[string]](), reflect.TypeFor[*string]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[int]](), reflect.TypeFor[*int]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[bool]](), reflect.TypeFor[*bool]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[[]json.RawMessage]](), reflect.TypeFor[[]json.RawMessage]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[[]string]](), reflect.TypeFor[[]string]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[[]int]](), reflect.TypeFor[[]int]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[map[string]string]](), reflect.TypeFor[map[string]string]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[resource.RateLimitBody]](), reflect.TypeFor[resource.RateLimitBody]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[resource.AuthBody]](), reflect.TypeFor[resource.AuthBody]())
	r.RegisterTypeAlias(reflect.TypeFor[strictjson.Field[resource.RuleBody]](), reflect.TypeFor[resource.RuleBody]())
	return r
}

// schemaName names a type in the document: EventView is Event, ListOf[EventView]
// is EventList.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if item, ok := strings.CutPrefix(name, "ListOf"); ok {
		name = strings.TrimSuffix(item, "View") + "List"
	}
	return strings.TrimSuffix(name, "View")
}
