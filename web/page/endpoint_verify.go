package page

import (
	_ "embed"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/component"
)

// Examples of how a receiver verifies what it gets. Those with a library name
// it; the plain ones need none.
var (
	//go:embed verify/library.go.txt
	goLibrary string
	//go:embed verify/plain.go.txt
	goPlain string
	//go:embed verify/library.mjs
	nodeLibrary string
	//go:embed verify/plain.mjs
	nodePlain string
	//go:embed verify/library.py
	pythonLibrary string
	//go:embed verify/plain.py
	pythonPlain string
)

// example is how one language verifies.
type example struct {
	language, lang string
	// install gets the library.
	install, library, plain string
}

// examples are in the order of the tabs.
var examples = []example{
	{"Go", "go", "go get github.com/standard-webhooks/standard-webhooks/libraries", goLibrary, goPlain},
	{"Node", "javascript", "npm install standardwebhooks", nodeLibrary, nodePlain},
	{"Python", "python", "pip install standardwebhooks", pythonLibrary, pythonPlain},
}

func examplePanels() []component.Panel {
	panels := make([]component.Panel, len(examples))
	for i, e := range examples {
		panels[i] = component.Panel{Title: e.language, Body: templ.Component(verifyExample(e))}
	}
	return panels
}
