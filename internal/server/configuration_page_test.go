package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// A file is downloaded from one account, looked at and imported in another, and
// a second time there is nothing to do.
func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	from, to := b.signedUp(t, "From"), b.signedUp(t, "To")
	from.tenant().configured()
	file := from.get(from.home + "/settings/configuration/download").text
	if strings.Contains(file, "hunter2") || !strings.Contains(file, `"left_out"`) || !strings.Contains(file, "body.n < 2 && body.m > 1") {
		t.Fatalf("%s", file)
	}
	at := to.home + "/settings/configuration"
	shown := to.get(at)
	if shown.Find("form#import input[type=file]").Length() != 1 {
		t.Error("no file can be chosen")
	}
	previewed := to.upload(at, nil, "configuration.json", file)
	previewed.wantStatus(http.StatusOK)
	if n := previewed.Find("#report tbody tr").Length(); n != 7 || !strings.Contains(previewed.Find("#outcome").Text(), "7 created") {
		t.Fatalf("%d rows: %s", n, previewed.Find("#report").Text())
	}
	if n := len(entries(to.tenant().must(200, http.MethodGet, "/endpoints", nil))); n != 0 {
		t.Fatalf("the preview made %d endpoints", n)
	}
	fields := map[string]string{}
	for name, values := range fieldsOf(previewed.Find("#apply")) {
		fields[name] = values[0]
	}
	done := to.upload(at, fields, "", "")
	done.wantStatus(http.StatusOK)
	if links := done.Find("#report a.cell"); links.Length() != 7 || done.Find("#apply").Length() != 0 {
		t.Errorf("%d links", links.Length())
	}
	again := to.upload(at, map[string]string{"pasted": file}, "", "")
	if !strings.Contains(again.Find("#outcome").Text(), "Nothing would be changed") || again.Find("#apply").Length() != 0 {
		t.Errorf("the second time: %s", again.Find("#outcome").Text())
	}
	wrong := to.upload(at, map[string]string{"pasted": `{"version":3}`}, "", "")
	if wrong.status != http.StatusUnprocessableEntity || !strings.Contains(wrong.errorBeside("pasted"), "version") {
		t.Errorf("another version: %d %q", wrong.status, wrong.errorBeside("pasted"))
	}
	viewer := to.newMemberAs(gateway.RoleViewer)
	if viewer.get(at).Find("form#import").Length() != 0 {
		t.Error("a viewer is offered to import")
	}
}
