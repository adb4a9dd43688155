package dashboard

import (
	"net/http"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	fieldType = "type"
	// paramTested is the attempt of a test that was just sent, in the address of
	// the endpoint's page.
	paramTested = "tested"
)

func askTest(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	return v.ask("Test "+endpointName(e), layout.SectionEndpoints, page.TestAsk(v.testQuestion(e)))
}

func (v *visit) testQuestion(e gateway.Endpoint) page.TestQuestion {
	question := page.TestQuestion{EndpointQuestion: v.aboutEndpoint(e)}
	for _, pattern := range e.EventTypes {
		if gateway.CheckPublishedType(pattern) == nil {
			question.Types = append(question.Types, pattern)
		}
	}
	return question
}

var testSentences = sentences{
	{gateway.ErrNobodyListens, fieldType, "Nobody listens. Start rowlock listen for this endpoint, then send the test."},
}

// testEndpoint sends a test event and shows what came of it: the answer is
// there before this is.
func testEndpoint(v *visit) error {
	e, f, err := v.postedEndpoint()
	if err != nil {
		return err
	}
	eventType := f.text(fieldType)
	if eventType == gateway.TypeTest {
		eventType = "" // the one it is without a choice
	}
	if f.ok() {
		attempt, err := v.d.Deliver.Test(v.ctx(), v.account(), v.actor(), e.ID, eventType)
		switch {
		case err == nil:
			return v.redirect(v.atEndpoint(e) + "?" + paramTested + "=" + attempt.ID().String())
		case !f.take(err, map[string]string{fieldType: fieldType}, testSentences):
			return err
		}
	}
	question := v.testQuestion(e)
	question.Entered, question.Errors = strings.TrimSpace(f.raw(fieldType)), f.errors
	return v.askAgain(http.StatusUnprocessableEntity, "Test "+endpointName(e), layout.SectionEndpoints, page.TestAsk(question))
}
