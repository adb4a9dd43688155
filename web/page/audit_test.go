package page_test

import (
	"testing"

	"github.com/rowlock/rowlock/web/page"
)

func TestAuditPage(t *testing.T) {
	t.Parallel()
	v := page.Audit{Frame: framed(), Now: noon, Path: "/a/acme/audit", CSV: "/a/acme/audit/export?format=csv"}
	if d := drawn(t, page.AuditPage(v)); d.Find("#entries .empty").Length() != 1 || d.Find("#entries table").Length() != 0 {
		t.Error("no entries, and no word of it")
	}
	v.Rows = []page.AuditRow{
		{ID: "aud_1", Who: hostile, Did: "paused", What: hostile, Href: "/a/acme/endpoints/ep_1", Area: "endpoint", Address: hostile, Agent: hostile, At: noon},
		{ID: "aud_2", Who: hostile, Key: true, Did: "was refused:", What: hostile, Detail: hostile, Area: "key", Refused: true, At: noon},
		{ID: "aud_3", Who: "Rowlock", Rowlock: true, Did: "disabled", Area: "endpoint", At: noon},
	}
	d := drawn(t, page.AuditPage(v))
	if d.Find("#entries tbody tr").Length() != 3 || d.Find("#entries [data-s='rejected']").Length() != 1 || d.Find("#entries td a").Length() != 1 {
		t.Errorf("%s", d.Find("#entries").Text())
	}
}
