package dashboard

import (
	"context"
	"io"
	"net/http"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/layout"
)

// ask shows a question: in the page's dialog where scripts run, and as a page
// of its own where none do.
func (v *visit) ask(title, section string, question templ.Component) error {
	return v.askAgain(http.StatusOK, title, section, question)
}

// askAgain is ask for an answer that could not be taken, with its status.
func (v *visit) askAgain(status int, title, section string, question templ.Component) error {
	if v.scripted() {
		return v.render(status, question)
	}
	frame, _, err := v.frame(title, section)
	if err != nil {
		return err
	}
	return v.render(status, templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return layout.Confirm(frame).Render(templ.WithChildren(ctx, question), w)
	}))
}
