// Package component is the parts that pages are made of: buttons, badges,
// fields, tables, charts, code. They take strings and small structs, know
// nothing of the product, and never trust the text they are given.
//
// A part with several settings is a struct that renders itself; a part with
// one or two is a function:
//
//	@component.Button{Label: "Rotate…", Icon: "refresh-cw", Href: url, Dialog: true}
//	@component.Badge(delivery.Status)
//
// What it holds are its children. A struct with children stands in
// parentheses:
//
//	@(component.Empty{Icon: "webhook", Title: "No endpoints yet"}) {
//		@component.Button{Label: "Add endpoint", Href: url}
//	}
package component
