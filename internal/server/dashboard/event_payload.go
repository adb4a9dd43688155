package dashboard

import (
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// paintedPayload is the largest payload that is shown whole, in bytes; of a
	// larger one shownPayload are.
	paintedPayload = 64_000
	shownPayload   = 16 << 10
	// dumpedPayload is how much of one that is no text is shown.
	dumpedPayload = 256
	// copiedPayload is the largest one that a button copies.
	copiedPayload = 16 << 10
	// anywhere is an address to fill in.
	anywhere = "https://example.com/webhook"
	// local is one of a program on one's own machine, for what is listened for.
	local = "http://localhost:3000/"
)

// payloadPolicy keeps a payload, which is a stranger's text, from ever running
// as a page of ours.
const payloadPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

// payloadView shows what came in.
func (v *visit) payloadView(s story) page.Payload {
	view := page.Payload{DeletedAt: s.PayloadDeletedAt, Size: s.BodySize}
	if s.gone() {
		return view
	}
	path := v.at("events", s.ID.String())
	view.Raw, view.KeptUntil = path+"/raw", s.ID.Time().Add(v.d.Retention)
	if v.manages() {
		view.Delete = path + "/payload/delete"
	}
	view.Headers = page.HeaderList(s.body.Headers)
	view.Curl = s.sendingTo(s.somewhere()).again(s.body.Headers)
	body := s.body.Data
	switch {
	case !isText(body):
		view.Dump = body[:min(len(body), dumpedPayload)]
		return view
	case len(body) > paintedPayload:
		view.Shown = wholeRunes(body[:shownPayload])
	default:
		view.Shown = body
	}
	if len(body) <= copiedPayload {
		view.Text = string(body)
	}
	return view
}

// isText tells that bytes are to be read by people.
func isText(body []byte) bool {
	return utf8.Valid(body) && !strings.ContainsRune(string(body), 0)
}

// wholeRunes cuts off what a cut has left of a character.
func wholeRunes(text []byte) []byte {
	for range utf8.UTFMax {
		if r, size := utf8.DecodeLastRune(text); r != utf8.RuneError || size != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

// payloadKind is the media type of a download and its file's suffix. Only JSON
// keeps its own: whatever else was sent is bytes.
func payloadKind(headers []byte) (kind, suffix string) {
	named, _, err := mime.ParseMediaType(gateway.DecodeHeaders(headers).Get(echo.HeaderContentType))
	if err == nil && named == echo.MIMEApplicationJSON {
		return named, ".json"
	}
	return echo.MIMEOctetStream, ".bin"
}

// payloadFile is what a payload is called as a file.
func payloadFile(s story) string {
	_, suffix := payloadKind(s.body.Headers)
	return s.ID.String() + suffix
}

// downloadPayload answers with the stored bytes: to be saved, and not to be
// shown.
func downloadPayload(v *visit) error {
	event, err := v.event()
	if err != nil {
		return err
	}
	body, err := v.d.Store.Body(v.ctx(), v.account(), event.ID)
	if err != nil {
		return err
	}
	return v.attach(event.ID.String(), body)
}

// attach answers with what a stranger sent, as a file.
func (v *visit) attach(name string, body gateway.Body) error {
	kind, suffix := payloadKind(body.Headers)
	h := v.Response().Header()
	h.Set("Content-Security-Policy", payloadPolicy)
	h.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+suffix+`"`)
	return v.Blob(http.StatusOK, kind, body.Data)
}

func askDeletePayload(v *visit) error {
	event, err := v.event()
	if err != nil {
		return err
	}
	path := v.at("events", event.ID.String())
	return v.ask("Delete the payload?", layout.SectionEvents, page.QuestionForm(page.Question{
		Action: path + "/payload/delete", Cancel: path, Title: "Delete the payload of " + event.Type + "?",
		Submit: "Delete payload", Heading: !v.scripted(),
		Text: []string{
			"Its " + component.Bytes(event.BodySize) + " and the headers that it came with are deleted for good. The event, its deliveries and their attempts stay.",
			"What is still to be sent of it is cancelled, and it cannot be sent again.",
		},
	}))
}

func deletePayload(v *visit) error {
	event, err := v.event()
	if err != nil {
		return err
	}
	to := v.at("events", event.ID.String())
	if err := v.d.Deliver.DeletePayload(v.ctx(), v.account(), v.actor(), event.ID); err != nil {
		return err
	}
	return v.done(to, "The payload was deleted.")
}

// processEvent has an event decided again.
func processEvent(v *visit) error {
	event, err := v.event()
	if err != nil {
		return err
	}
	to := v.at("events", event.ID.String())
	err = v.d.Decide.Reprocess(v.ctx(), v.account(), v.actor(), event.ID)
	if errors.Is(err, gateway.ErrStateChanged) {
		return v.refused(to, "Nothing to process: it has been decided in the meantime.")
	}
	if err != nil {
		return err
	}
	return v.done(to, "The event is decided again.")
}
