package schema

import (
	"iter"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// guardAll puts a guard into a schema and all that it leads to.
func (c *compiled) guardAll(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool) {
	waiting := []*jsonschema.Schema{s}
	for len(waiting) > 0 {
		next := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if next == nil || seen[next] {
			continue
		}
		seen[next] = true
		for inner := range innerOf(next) {
			waiting = append(waiting, inner)
		}
		c.guardOne(next)
	}
}

func (c *compiled) guardOne(s *jsonschema.Schema) {
	if s.Bool != nil && *s.Bool {
		return
	}
	g, unique := guardOf(s, c.meter), s.UniqueItems
	s.Format = &jsonschema.Format{Name: "guard", Validate: func(value any) error { return g.check(value, unique) }}
}

// innerOf are the schemas that a schema names, nil among them.
func innerOf(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		all := []*jsonschema.Schema{
			s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else,
			s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
		}
		if s.DynamicRef != nil {
			all = append(all, s.DynamicRef.Ref)
		}
		for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
			all = append(all, list...)
		}
		for _, named := range []map[string]*jsonschema.Schema{s.Properties, s.DependentSchemas} {
			for _, inner := range named {
				all = append(all, inner)
			}
		}
		for _, inner := range s.PatternProperties {
			all = append(all, inner)
		}
		for _, other := range s.Dependencies {
			all = append(all, schemasIn(other)...)
		}
		for _, other := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
			all = append(all, schemasIn(other)...)
		}
		for _, inner := range all {
			if !yield(inner) {
				return
			}
		}
	}
}

// schemasIn reads what can be a schema, several, or none.
func schemasIn(value any) []*jsonschema.Schema {
	switch v := value.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{v}
	case []*jsonschema.Schema:
		return v
	default:
		return nil
	}
}
