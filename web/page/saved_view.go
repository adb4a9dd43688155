package page

import "github.com/rowlock/rowlock/web/component"

// SaveView asks for the name of a view.
type SaveView struct {
	Action, Cancel string
	Name           string
	// Query is what the list is narrowed by.
	Query   string
	Heading bool
	Errors  Errors
}

// DeleteView asks before a view is deleted.
type DeleteView struct {
	Action, Cancel, Name string
	Heading              bool
}

func (q DeleteView) hidden() []component.Option {
	return []component.Option{{Label: "name", Value: q.Name}}
}
