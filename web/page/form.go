// Package page draws the pages: one view and one template for each, which know
// what is shown and nothing of where it comes from.
package page

// Errors are what is wrong in a form, by the name of its fields. What belongs
// to no field stands under the empty name.
type Errors map[string]string

// Any tells that something is wrong.
func (e Errors) Any() bool { return len(e) > 0 }
