package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

func TestAlertsPage(t *testing.T) {
	t.Parallel()
	v := page.Alerts{Frame: framed(), MailOut: true}
	v.Section = layout.SectionSettings
	d := drawn(t, page.AlertsPage(v))
	if d.Find("#kinds input[type='checkbox']").Length() != len(gateway.AlertKinds) || d.Find("#kinds input[checked]").Length() != 0 || d.Find("#mail-kept").Length() != 0 {
		t.Errorf("%s", d.Find("#alerts").Text())
	}
	for _, box := range d.Find("#kinds input").EachIter() {
		if strings.TrimSpace(box.Closest("label").Text()) == "" || box.AttrOr("aria-describedby", "") == "" {
			t.Errorf("%s says nothing", box.AttrOr("value", ""))
		}
	}
	if strings.TrimSpace(d.Find(".tabs a[aria-current]").Text()) != "Alerts" || d.Find("nav a[href$='/settings'][aria-current]").Length() == 0 {
		t.Error("the tab or the section is not marked")
	}
	v.Kinds, v.MailOut, v.Errors = []string{"endpoint.disabled", hostile}, false, page.Errors{"kinds": hostile}
	d = drawn(t, page.AlertsPage(v))
	if box := d.Find("#kinds input[checked]"); box.Length() != 1 || box.AttrOr("value", "") != "endpoint.disabled" {
		t.Errorf("%d are chosen", box.Length())
	}
	if d.Find("#kinds[aria-invalid='true']").Length() != 1 || d.Find("#kinds-error").Length() != 1 || d.Find("#mail-kept").Length() != 1 {
		t.Errorf("%s", d.Find("main").Text())
	}
}

// What became of a channel's last message is told where it is set.
func TestAlertChannel(t *testing.T) {
	t.Parallel()
	soon := noon.Add(time.Minute)
	for want, m := range map[string]*page.AlertMessage{
		"Nothing was posted so far.": nil,
		"Posted":                     {Subject: "s", At: noon, Sent: true},
		"Waiting":                    {Subject: "s", At: noon, Next: &soon},
		"Retrying":                   {Subject: "s", At: noon, Next: &soon, Failure: "answered 503"},
		"Not posted":                 {Subject: "s", At: noon, Failure: "answered 404"},
	} {
		d := drawn(t, page.AlertsPage(page.Alerts{Frame: framed(), Now: noon, Channel: page.AlertChannel{Host: "hooks.slack.com", Manages: true, Last: m}}))
		wantWords(t, d, "#channel", want)
		failed := 0
		if m != nil && m.Failure != "" {
			failed = 1
		}
		wantNumber(t, d, "#channel .callout", failed)
	}
	d := drawn(t, page.AlertsPage(page.Alerts{Frame: framed(), Now: noon}))
	wantWords(t, d, "#channel", "None is set.")
	wantNumber(t, d, "#channel form", 0)
}
