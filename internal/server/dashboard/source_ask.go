package dashboard

import (
	"net/http"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// sourceQuestion is what every question about a source shows.
func (v *visit) sourceQuestion(s gateway.Source) page.SourceAsk {
	return page.SourceAsk{Source: v.sourceHead(s), Heading: !v.scripted(), Now: v.now()}
}

func askPauseSource(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	return v.ask("Pause source", layout.SectionSources, page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: v.at("sources", s.ID.String()), Heading: !v.scripted(), Safe: true,
		Title: "Pause “" + s.Name + "”?", Submit: "Pause source",
		Text: []string{
			"The sender notices nothing: requests are verified and answered with 200 as before. " +
				"Their events are kept and held, and delivered nowhere until you resume.",
		},
	}))
}

func askDeleteSource(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	return v.ask("Delete source", layout.SectionSources, page.SourceDeleteAsk(v.sourceQuestion(s)))
}

func pauseSource(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	if _, err := v.d.Sources.Pause(v.ctx(), v.account(), v.actor(), s.ID); err != nil {
		return err
	}
	return v.done(v.at("sources", s.ID.String()), "Source paused. Its events are held.")
}

func resumeSource(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	if _, err := v.d.Sources.Resume(v.ctx(), v.account(), v.actor(), s.ID); err != nil {
		return err
	}
	return v.done(v.at("sources", s.ID.String()), "Source resumed. Held events go on.")
}

func deleteSource(v *visit) error {
	s, f, err := v.postedSource()
	if err != nil {
		return err
	}
	if !sameName(f.text(fieldName), s.Name) {
		f.wrong(fieldName, "This is not the source’s name.")
	}
	if !f.ok() {
		ask := v.sourceQuestion(s)
		ask.Chosen, ask.Errors = f.text(fieldName), f.errors
		return v.askAgain(http.StatusUnprocessableEntity, "Delete source", layout.SectionSources, page.SourceDeleteAsk(ask))
	}
	if err := v.d.Sources.Delete(v.ctx(), v.account(), v.actor(), s.ID); err != nil {
		return err
	}
	return v.done(v.at("sources"), "Source deleted. Its ingest URL answers 404 now.")
}

// rotateQuestion asks for the new secret, and tells of one in its overlap.
func (v *visit) rotateQuestion(s gateway.Source) (page.SourceAsk, error) {
	ask := v.sourceQuestion(s)
	var err error
	if ask.Source, err = v.wholeHead(s); err != nil {
		return ask, err
	}
	if ask.Source.Kind.Secret == "" {
		return ask, &Refusal{Status: http.StatusConflict, Title: "This source has no secret", Text: "Its kind is not signed."}
	}
	secrets, err := v.d.Store.SourceSecrets(v.ctx(), v.account(), s.ID)
	for _, one := range secrets {
		if one.EndsAt != nil && (ask.Older == nil || one.EndsAt.After(*ask.Older)) {
			ask.Older = one.EndsAt
		}
	}
	return ask, err
}

func askRotateSource(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	ask, err := v.rotateQuestion(s)
	if err != nil {
		return err
	}
	return v.ask("Change secret", layout.SectionSources, page.SourceRotateAsk(ask))
}

func rotateSource(v *visit) error {
	s, f, err := v.postedSource()
	if err != nil {
		return err
	}
	keep := f.overlap()
	if f.ok() {
		_, err := v.d.Sources.Rotate(v.ctx(), v.account(), v.actor(), s.ID, f.raw(fieldSecret), &keep)
		if err == nil {
			return v.done(v.at("sources", s.ID.String()), "Secret changed. The new one proves requests now.")
		}
		if !f.takeSource(err, kindOf(s.Kind)) {
			return err
		}
	}
	ask, err := v.rotateQuestion(s)
	if err != nil {
		return err
	}
	ask.Chosen, ask.Errors = f.text(fieldOverlap), f.errors
	return v.askAgain(http.StatusUnprocessableEntity, "Change secret", layout.SectionSources, page.SourceRotateAsk(ask))
}
