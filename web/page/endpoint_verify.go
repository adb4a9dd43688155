package page

import (
	_ "embed"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// Examples of how a receiver verifies what it gets. Those with a library name
// it; the plain ones need none.
var (
	//go:embed verify/library.go.txt
	goLibrary string
	//go:embed verify/plain.go.txt
	goPlain string
	//go:embed verify/key_pair.go.txt
	goKeyPair string
	//go:embed verify/library.mjs
	nodeLibrary string
	//go:embed verify/plain.mjs
	nodePlain string
	//go:embed verify/key_pair.mjs
	nodeKeyPair string
	//go:embed verify/library.py
	pythonLibrary string
	//go:embed verify/plain.py
	pythonPlain string
	//go:embed verify/key_pair.py
	pythonKeyPair string
)

// example is how one language verifies.
type example struct {
	language, lang string
	// install gets the library, library uses it; of a key pair there is none
	// to use, and install gets what the language lacks.
	install, library, plain string
}

// Examples are in the order of the tabs. The libraries of Standard Webhooks for
// these languages verify shared secrets alone.
var (
	secretExamples = []example{
		{"Go", "go", "go get github.com/standard-webhooks/standard-webhooks/libraries", goLibrary, goPlain},
		{"Node", "javascript", "npm install standardwebhooks", nodeLibrary, nodePlain},
		{"Python", "python", "pip install standardwebhooks", pythonLibrary, pythonPlain},
	}
	keyPairExamples = []example{
		{"Go", "go", "", "", goKeyPair},
		{"Node", "javascript", "", "", nodeKeyPair},
		{"Python", "python", "pip install cryptography", "", pythonKeyPair},
	}
)

// examplePanels are for what signs an endpoint's requests from now on.
func examplePanels(version gateway.SignatureVersion) []component.Panel {
	examples := secretExamples
	if version == gateway.SignatureEd25519 {
		examples = keyPairExamples
	}
	panels := make([]component.Panel, len(examples))
	for i, e := range examples {
		panels[i] = component.Panel{Title: e.language, Body: templ.Component(verifyExample(e))}
	}
	return panels
}
