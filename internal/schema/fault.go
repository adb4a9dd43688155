package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// faultsOf lists the single faults of what the library found, by where they
// are, each once.
func faultsOf(found *jsonschema.ValidationError) []Fault {
	var faults []Fault
	collect(found, &faults)
	slices.SortFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Reason, b.Reason))
	})
	faults = slices.Compact(faults)
	return faults[:min(len(faults), MaxFaults)]
}

// collect walks down to the faults that have no cause of their own. Where one
// of several had to be satisfied, what each of them lacks is no fault, only
// that none is.
func collect(found *jsonschema.ValidationError, faults *[]Fault) {
	switch found.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Contains, *kind.MinContains, *kind.PropertyNames, *kind.Not:
	default:
		if len(found.Causes) > 0 {
			for _, cause := range found.Causes {
				collect(cause, faults)
			}
			return
		}
	}
	*faults = append(*faults, Fault{Pointer: pointer(found.InstanceLocation), Reason: reason(found.ErrorKind)})
}

// reason says what is asked. It names what stands in the schema, and numbers of
// things, never what stands in the data.
func reason(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Format:
		if known, ok := errors.AsType[reasonError](k.Err); ok {
			return string(known)
		}
	case *kind.Type:
		return "want " + strings.Join(k.Want, " or ")
	case *kind.Required:
		return "lacks " + names(k.Missing)
	case *kind.DependentRequired:
		return "lacks " + names(k.Missing) + ", which goes with " + name(k.Prop)
	case *kind.Dependency:
		return "lacks " + names(k.Missing) + ", which goes with " + name(k.Prop)
	case *kind.AdditionalProperties:
		return "has a field that the schema does not know"
	case *kind.PropertyNames:
		return "has a field whose name the schema does not allow"
	case *kind.RefCycle:
		return "cannot be checked: the schema refers to itself in a circle"
	}
	if text := limit(k); text != "" {
		return text
	}
	return choice(k)
}

// limit says which bound is crossed.
func limit(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinProperties:
		return fmt.Sprintf("want at least %d fields", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("want at most %d fields", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("want at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("want at most %d items", k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("want at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("want at most %d characters", k.Want)
	case *kind.Minimum:
		return "want at least " + short(k.Want.RatString())
	case *kind.Maximum:
		return "want at most " + short(k.Want.RatString())
	case *kind.ExclusiveMinimum:
		return "want more than " + short(k.Want.RatString())
	case *kind.ExclusiveMaximum:
		return "want less than " + short(k.Want.RatString())
	case *kind.MultipleOf:
		return "want a multiple of " + short(k.Want.RatString())
	default:
		return ""
	}
}

// choice says which rule of several parts is broken.
func choice(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Pattern:
		return "does not match the pattern " + short(k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.AdditionalItems:
		return "has more items than the schema knows"
	case *kind.Contains, *kind.MinContains:
		return "has too few items of a kind that the schema wants"
	case *kind.MaxContains:
		return "has too many items of a kind that the schema limits"
	case *kind.AnyOf:
		return "satisfies none of the schemas of which it has to satisfy one"
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return "satisfies more than one of the schemas of which it has to satisfy one alone"
		}
		return "satisfies none of the schemas of which it has to satisfy one"
	case *kind.Not:
		return "satisfies a schema that it must not satisfy"
	default:
		return "breaks the schema"
	}
}

// maxShown is how much of a schema's own text a reason repeats.
const maxShown = 64

func short(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

func name(text string) string { return "“" + short(text) + "”" }

func names(all []string) string {
	const most = 5
	shown := make([]string, 0, most)
	for _, text := range all[:min(len(all), most)] {
		shown = append(shown, name(text))
	}
	text := strings.Join(shown, ", ")
	if len(all) > most {
		text += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return text
}
