package page

import (
	"maps"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// HeaderList are headers as they are kept, in the order of their names.
func HeaderList(wire []byte) []component.Header {
	headers := gateway.DecodeHeaders(wire)
	var list []component.Header
	for _, name := range headerNames(wire) {
		for _, value := range headers[name] {
			list = append(list, component.Header{Name: name, Value: value})
		}
	}
	return list
}

// headerNames are their names alone: values often are passwords.
func headerNames(wire []byte) []string { return slices.Sorted(maps.Keys(gateway.DecodeHeaders(wire))) }
