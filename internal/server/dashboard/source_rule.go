package dashboard

import (
	"errors"
	"net/http"
	"strings"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// paramTemplate names the rule that the form begins with.
const paramTemplate = "template"

// addRuleRoutes adds what sources' rules are made with.
func addRuleRoutes(r router) {
	const one = "/sources/:id/rule"
	r.within(get, one, showRule)
	r.managed(post, one, setRule)
	r.managed(post, one+"/try", tryRule)
	r.managed(get, one+"/delete", askClearRule)
	r.managed(post, one+"/delete", clearRule)
}

// showRule is the page of a source's rule.
func showRule(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	chosen := map[string]string{}
	if s.Rule != nil {
		chosen = chosenRule(*s.Rule)
	}
	for _, l := range rule.Lifecycles() {
		if l.Name == v.QueryParam(paramTemplate) {
			chosen = chosenRule(l.Rule)
		}
	}
	return v.rulePage(http.StatusOK, s, page.SourceRule{Chosen: chosen})
}

// chosenRule are the form's fields of a rule.
func chosenRule(r gateway.Rule) map[string]string {
	chosen := map[string]string{
		page.RuleKey: r.Key, page.RuleType: r.Type, page.RuleSubject: r.Subject, page.RuleState: r.State, page.RuleEmit: r.Emit,
		page.RuleTerminal: strings.Join(r.Terminal, "\n"), page.RuleRank: strings.Join(r.Rank, "\n"),
	}
	if r.Repeats {
		chosen[page.RuleRepeats] = "1"
	}
	if r.RequiresExisting {
		chosen[page.RuleRequires] = "1"
	}
	return chosen
}

// rulePage draws the page.
func (v *visit) rulePage(status int, s gateway.Source, view page.SourceRule) (err error) {
	if view.Frame, _, err = v.frame("Rule of "+s.Name, layout.SectionSources); err != nil {
		return err
	}
	view.Source, view.Now, view.Rule, view.Manages = v.sourceHead(s), v.now(), s.Rule, v.manages()
	for _, l := range rule.Lifecycles() {
		view.Templates = append(view.Templates, page.RuleTemplate{
			Title: l.Title, Text: l.Text, Href: address(v.at("sources", s.ID.String(), "rule"), paramTemplate, l.Name),
		})
	}
	newest, err := v.newestOf(s)
	if err != nil {
		return err
	}
	if newest != nil {
		view.NewestHref, view.NewestAt = v.at("events", newest.ID.String()), newest.ID.Time()
	}
	return v.render(status, page.SourceRulePage(view))
}

// newestOf is the event of a source that came in last and can be looked at; nil
// for none.
func (v *visit) newestOf(s gateway.Source) (*gateway.Event, error) {
	found, err := v.d.Store.Events(v.ctx(), v.account(), store.EventFilter{Source: &s.ID}, store.Page[gateway.EventID]{Limit: 1})
	if err != nil || len(found) == 0 || found[0].PayloadDeletedAt != nil {
		return nil, err
	}
	return &found[0], nil
}

// ruleFields are the form's fields, under the names that the use case has too.
var ruleFields = []string{
	page.RuleKey, page.RuleType, page.RuleSubject, page.RuleState, page.RuleEmit, page.RuleTerminal, page.RuleRank,
	page.RuleRepeats, page.RuleRequires, page.RuleHeaders, page.RuleBody,
}

// ruleFieldsOf are the page's fields for those of the use cases.
func ruleFieldsOf() map[string]string {
	fields := map[string]string{"event": page.RuleBody}
	for _, name := range ruleFields {
		fields[name] = name
	}
	return fields
}

// readRule reads the form.
func readRule(f form) (r gateway.Rule, chosen map[string]string) {
	chosen = map[string]string{}
	for _, name := range ruleFields {
		chosen[name] = f.multiline(name)
	}
	r = gateway.Rule{
		Key: chosen[page.RuleKey], Type: chosen[page.RuleType], Subject: chosen[page.RuleSubject], State: chosen[page.RuleState],
		Emit: chosen[page.RuleEmit], Terminal: linesOf(chosen[page.RuleTerminal]), Rank: linesOf(chosen[page.RuleRank]),
		Repeats: f.checked(page.RuleRepeats), RequiresExisting: f.checked(page.RuleRequires),
	}
	if strings.TrimSpace(r.Key+r.Type+r.Subject+r.State+r.Emit) == "" && f.ok() {
		f.wrong("", "This rule says nothing. Enter an expression, or remove the rule.")
	}
	return r, chosen
}

// linesOf are the lines of a text that are not empty.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func setRule(v *visit) error {
	s, f, err := v.postedSource()
	if err != nil {
		return err
	}
	r, chosen := readRule(f)
	if f.ok() {
		_, err := v.d.Sources.SetRule(v.ctx(), v.account(), v.actor(), s.ID, r)
		if err == nil {
			return v.done(v.at("sources", s.ID.String()), "Rule saved. Events are decided by it from now on.")
		}
		if !f.take(err, ruleFieldsOf(), nil) {
			return err
		}
	}
	return v.rulePage(http.StatusUnprocessableEntity, s, page.SourceRule{Chosen: chosen, Errors: f.errors})
}

// tryRule shows the form as it was sent, with what its rule says of the body that
// was entered, or of the newest event.
func tryRule(v *visit) error {
	s, f, err := v.postedSource()
	if err != nil {
		return err
	}
	r, chosen := readRule(f)
	view := page.SourceRule{Chosen: chosen, Errors: f.errors}
	r, err = source.CheckRule(r)
	if err != nil && !f.take(err, ruleFieldsOf(), nil) {
		return err
	}
	trial := accept.RuleTrial{Rule: &r, Body: []byte(chosen[page.RuleBody]), Header: readHeaders(f, page.RuleHeaders, chosen[page.RuleHeaders])}
	if len(trial.Body) == 0 {
		newest, err := v.newestOf(s)
		if err != nil {
			return err
		}
		if newest == nil {
			f.wrong(page.RuleBody, "Enter a body: no event has come in that could be looked at.")
		} else {
			trial.Event = &newest.ID
		}
	}
	if f.ok() {
		if view.Tried, err = v.ruleTrials(s, trial); err != nil && !f.take(err, ruleFieldsOf(), ruleSentences) {
			return err
		}
	}
	return v.rulePage(statusOf(f), s, view)
}

var ruleSentences = sentences{
	{gateway.ErrRateLimited, "", "Too many rules of this account are tried at once. Try again in a moment."},
	{gateway.ErrPayloadGone, page.RuleBody, "The payload of the newest event was deleted. Enter a body."},
}

// ruleTrials is what a rule says.
func (v *visit) ruleTrials(s gateway.Source, trial accept.RuleTrial) ([]page.RuleTrial, error) {
	tried, err := v.d.Accept.TryRule(v.ctx(), v.account(), s.ID, trial)
	if err != nil {
		return nil, err
	}
	shown := make([]page.RuleTrial, len(tried))
	for i, t := range tried {
		shown[i] = page.RuleTrial{
			Key: t.Key, Received: t.Received, Type: t.Type, Silent: t.Silent, Subject: t.Subject, State: t.State, Status: string(t.Status),
		}
		if t.Reason != "" {
			shown[i].Reason = sentence(t.Reason)
		}
		if t.First != nil && (trial.Event == nil || *trial.Event != *t.First) {
			shown[i].FirstHref = v.at("events", t.First.String())
		}
		if t.Fact != nil {
			shown[i].Known, shown[i].KnownHref = t.Fact.State, v.at("facts", t.Fact.ID.String())
		}
	}
	return shown, nil
}

func askClearRule(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	return v.ask("Remove rule", layout.SectionSources, page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: v.at("sources", s.ID.String(), "rule"), Heading: !v.scripted(),
		Title: "Remove the rule of “" + s.Name + "”?", Submit: "Remove rule",
		Text: []string{
			"Events that come in from now on are told as what they came in as, each of them. " +
				"Facts that were told stay, and count again if the source gets a rule with the same subjects.",
		},
	}))
}

func clearRule(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	_, err = v.d.Sources.ClearRule(v.ctx(), v.account(), v.actor(), s.ID)
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		return v.done(v.at("sources", s.ID.String()), "The source has no rule any more.")
	case err != nil:
		return err
	}
	return v.done(v.at("sources", s.ID.String()), "Rule removed.")
}
