package page

import (
	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/docs"
)

// verifyingPage is the documentation's page whose code an endpoint's page shows
// too.
const verifyingPage = "verifying"

// example is how one language verifies.
type example struct {
	language string
	// install gets the library, and library is the file that uses it; of a key
	// pair there is none to use, and install gets what the language lacks.
	install, library string
	// plain is the file that needs no library.
	plain string
}

// Examples are in the order of the tabs. The libraries of Standard Webhooks
// verify shared secrets alone.
var (
	secretExamples = []example{
		{"Go", "go get github.com/standard-webhooks/standard-webhooks/libraries", "library.go", "verify.go"},
		{"Node", "npm install standardwebhooks", "library.mjs", "verify.mjs"},
		{"Python", "pip install standardwebhooks", "library.py", "verify.py"},
		{"PHP", "", "", "verify.php"},
		{"Ruby", "", "", "verify.rb"},
		{"Java", "", "", "Verify.java"},
	}
	keyPairExamples = []example{
		{"Go", "", "", "verify_key.go"},
		{"Node", "", "", "verify_key.mjs"},
		{"Python", "pip install cryptography", "", "verify_key.py"},
		{"PHP", "", "", "verify_key.php"},
		{"Ruby", "", "", "verify_key.rb"},
		{"Java", "", "", "VerifyKey.java"},
	}
)

// code is a file of the documentation.
func (e example) code(file string) docs.Variant { return docs.Example(verifyingPage, file) }

// examplePanels are for what signs an endpoint's requests from now on.
func examplePanels(version gateway.SignatureVersion) []component.Panel {
	examples := secretExamples
	if version == gateway.SignatureEd25519 {
		examples = keyPairExamples
	}
	panels := make([]component.Panel, len(examples))
	for i, e := range examples {
		panels[i] = component.Panel{Title: e.language, Body: templ.Component(verifyExample(e, plainTitle(version)))}
	}
	return panels
}

// plainTitle is what stands above code that needs no library.
func plainTitle(version gateway.SignatureVersion) string {
	if version == gateway.SignatureEd25519 {
		return "Verify with the public key"
	}
	return "Verify by yourself"
}
