package server_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// uploadForm posts the form of a new comparison, with a file if it has a name.
func (w *browser) uploadForm(fields map[string]string, name, list string) page {
	w.t.Helper()
	return w.upload(w.home+"/reconcile/new", fields, name, list)
}

// upload sends a form with a file as its last field; without a name there is none.
func (w *browser) upload(path string, fields map[string]string, name, list string) page {
	w.t.Helper()
	var text bytes.Buffer
	form := multipart.NewWriter(&text)
	for field, value := range fields {
		if err := form.WriteField(field, value); err != nil {
			w.t.Fatal(err)
		}
	}
	if name != "" {
		w.addFile(form, name, list)
	}
	if err := form.Close(); err != nil {
		w.t.Fatal(err)
	}
	return w.sendBody(http.MethodPost, path, &text, map[string]string{"Content-Type": form.FormDataContentType()})
}

// addFile adds a file to a form.
func (w *browser) addFile(form *multipart.Writer, name, list string) {
	w.t.Helper()
	file, err := form.CreateFormFile("list", name)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := file.Write([]byte(list)); err != nil {
		w.t.Fatal(err)
	}
}

// compared has the comparison that an answer leads to be done.
func (w *browser) compared(p page) page {
	w.t.Helper()
	p.wantStatus(http.StatusSeeOther)
	id, err := gateway.ParseID[gateway.ReconciliationID](strings.TrimPrefix(p.location, w.home+"/reconcile/"))
	if err != nil {
		w.t.Fatalf("the answer leads to %s", p.location)
	}
	if err := w.compare.Run(w.t.Context(), w.tenant().account, id); err != nil {
		w.t.Fatal(err)
	}
	return w.get(p.location)
}

// listForm are the fields of a form about the endpoint.
func listForm(endpoint string) map[string]string {
	return map[string]string{
		"endpoint": endpoint, "match": "event", "since": time.Now().UTC().Add(-time.Hour).Format("2006-01-02T15:04"), "header": "1",
		"until": "", "key_column": "", "type_column": "", "name": "",
	}
}

func TestReconcilePages(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	list := w.get(w.home + "/reconcile")
	list.wantText("#reconciliations", "Nothing was compared yet")
	w.get(w.home+"/reconcile/new").wantText("main", "There is no endpoint yet")
	n := w.tenant()
	deliveries := n.withFailed(3)
	event := text(n.must(200, http.MethodGet, "/deliveries/"+deliveries[0], nil), "event_id")
	endpoint := text(n.must(200, http.MethodGet, "/endpoints/e", nil), "id")
	w.get(w.home+"/reconcile/new?endpoint="+endpoint).wantText("#reconcile-form option[selected]", "ERP sync")

	path := w.uploadForm(listForm(endpoint), "july.csv", "event_id\n"+event+"\n"+event+"\nevt_06h1m3v9c8x7k2q5n4t6w8y0za\n\"x\n\"\n")
	w.get(path.location).wantText("h1 .badge", "Comparing")
	p := w.compared(path)
	p.wantText("h1", "july.csv")
	p.wantText("h1 .badge", "Done")
	p.wantText("main .lede", "3 rows by event id")
	if text := p.Find("#progress").Text(); strings.Contains(text, "were not kept") {
		t.Errorf("an hour ago is beyond what is kept: %s", text)
	}
	for i, want := range []string{"Matched1", "Missing at the partner2", "Unknown to us1", "Repeated1"} {
		if got := strings.Join(strings.Fields(p.Find("#numbers .stat").Eq(i).Text()), ""); !strings.HasPrefix(got, strings.ReplaceAll(want, " ", "")) {
			t.Errorf("number %d: %s, want %s", i, got, want)
		}
	}
	if rows := p.Find("#rows tbody tr"); rows.Length() != 2 || !strings.Contains(rows.First().Text(), "Its attempts are used up.") {
		t.Errorf("missing: %s", rows.Text())
	}
	w.wantTabs(path.location, event, deliveries[0])
	if got := w.get(w.home + "/reconcile").Find("#reconciliations tbody tr").Length(); got != 1 {
		t.Errorf("%d in the list", got)
	}
	report := w.get(path.location + "/report")
	if !strings.Contains(report.text, "missing,failed,,evt_") || !strings.HasPrefix(report.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("report %v %s", report.header, report.text)
	}
	w.redeliversMissing(path.location)
}

// wantTabs fails unless each tab shows what belongs there, and leads on.
func (w *browser) wantTabs(path, event, delivery string) {
	w.t.Helper()
	for show, want := range map[string]string{
		"missing&reason=failed": "Its attempts are used up.", "missing&reason=held": "Nothing more here", "unknown": "There is no such event here.",
		"repeated": event, "matched": "The endpoint never confirmed it to us.", "faulty": "It holds no event id", "junk": "Its attempts are used up.",
	} {
		p := w.get(path + "?show=" + show)
		p.wantStatus(http.StatusOK)
		p.wantText("#rows", want)
	}
	if links := w.get(path + "?show=matched").hrefs("#rows tbody a"); fmt.Sprint(links) != fmt.Sprintf("[%s/deliveries/%s]", w.home, delivery) {
		w.t.Errorf("the match leads to %v", links)
	}
}

// redeliversMissing sends what is missing, after the question with its number.
func (w *browser) redeliversMissing(path string) {
	w.t.Helper()
	w.get(path).wantText("main .head .actions", "Redeliver 2 missing…")
	ask := w.get(path + "/redeliver")
	ask.wantText("main", "2 deliveries match.")
	ask.wantText("main footer", "Redeliver 2")
	p := w.get(w.run(w.submit(ask, "main form", nil)))
	p.wantText("h1", "Redeliver what a partner is missing")
	p.wantText("h2", "2 of 2 deliveries")
	p.wantText("main .lede", "missing at the partner")
	if p := w.get(path + "/stop"); p.location != path {
		w.t.Errorf("one that has ended is asked about: %d %s", p.status, p.location)
	}
	w.follow(w.post(path+"/stop", nil)).wantToast("it had ended before")
	ask = w.get(path + "/delete")
	ask.wantText("main", "Delete “july.csv”?")
	w.submit(ask, "main form", url.Values{"name": {"june.csv"}}).wantText("#name-error", "This is not the comparison’s name.")
	w.follow(w.submit(ask, "main form", url.Values{"name": {"july.csv"}})).wantToast("Comparison deleted.")
	w.get(path).wantStatus(http.StatusNotFound)
}

func TestAPastedListIsCompared(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.withFailed(1)
	endpoint := text(n.must(200, http.MethodGet, "/endpoints/e", nil), "id")
	fields := listForm(endpoint)
	fields["match"], fields["pasted"] = "subject", "s1\ns2\n"
	fields["since"] = time.Now().UTC().AddDate(0, 0, -40).Format("2006-01-02T15:04")
	p := w.compared(w.uploadForm(fields, "", ""))
	p.wantText("h1", "List of ERP sync")
	p.wantText("#numbers", "Unknown to us")
	p.wantText("#progress", "1 event of ours has no subject")
	p.wantText("#progress", "were not kept any more: what the partner lists of them is unknown here.")
	if rows := w.get(p.path + "?show=unknown").Find("#rows tbody tr").Length(); rows != 2 {
		t.Errorf("%d rows are unknown, want both", rows)
	}
}

// A form that cannot be taken comes back as it was filled in.
func TestAComparisonsFormIsChecked(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.withFailed(1)
	endpoint := text(n.must(200, http.MethodGet, "/endpoints/e", nil), "id")
	for field, c := range map[string]struct{ value, name string }{
		"endpoint": {"junk", "a.csv"}, "match": {"junk", "a.csv"}, "since": {"junk", "a.csv"}, "until": {"junk", "a.csv"},
		"name": {strings.Repeat("x", 201), "a.csv"}, "key_column": {strings.Repeat("x", 201), "a.csv"}, "list": {"", ""},
	} {
		fields := listForm(endpoint)
		if field != "list" {
			fields[field] = c.value
		}
		p := w.uploadForm(fields, c.name, "a\n")
		p.wantStatus(http.StatusUnprocessableEntity)
		if p.Find("#"+field+"-error").Length() == 0 {
			t.Errorf("nothing beside %s tells what is wrong", field)
		}
	}
	w.post(w.home+"/reconcile/new", nil).wantStatus(http.StatusUnprocessableEntity)
	if all := entries(n.must(200, http.MethodGet, "/reconciliations", nil)); len(all) != 0 {
		t.Errorf("they were begun all the same: %v", all)
	}
	p := w.uploadForm(listForm(endpoint), "a.ndjson", "[1,\n2]")
	w.get(p.location).wantText("#fault", "The list is one JSON array")
	if row := w.get(w.home + "/reconcile").Find("#reconciliations tbody tr").Text(); !strings.Contains(row, "–") || strings.Contains(row, "missing") {
		t.Errorf("a list that could not be read has numbers: %s", row)
	}
}

func TestMembersLookAndChangeNothing(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.withFailed(1)
	endpoint := text(n.must(200, http.MethodGet, "/endpoints/e", nil), "id")
	path := w.compared(w.uploadForm(listForm(endpoint), "a.csv", "event_id\nevt_06h1m3v9c8x7k2q5n4t6w8y0za\n")).path
	b := w.newMember()
	if acts := b.get(path).Find("main .head .actions a").Text(); !strings.Contains(acts, "Download report") || strings.Contains(acts, "Redeliver") {
		t.Errorf("a member is offered %s", acts)
	}
	for _, act := range []string{"/redeliver", "/stop", "/delete"} {
		b.get(path + act).wantStatus(http.StatusForbidden)
	}
	b.get(w.home + "/reconcile/new").wantStatus(http.StatusForbidden)
	b.get(path + "/report").wantStatus(http.StatusOK)
}
