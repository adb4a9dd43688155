package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// showSources is the page of the account's sources, with what each brought.
func showSources(v *visit) error {
	l := v.listing(v.at("sources"))
	sources, err := v.d.Store.Sources(v.ctx(), v.account(), asked[gateway.SourceID](l))
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Sources", layout.SectionSources)
	if err != nil {
		return err
	}
	view := page.Sources{Frame: frame, Now: v.now(), Kinds: popular(), AllKinds: len(signature.Kinds()), Manages: v.manages()}
	sources, view.Newest, view.Older = shown(l, sources, func(s gateway.Source) string { return s.ID.String() })
	ids := make([]gateway.SourceID, len(sources))
	for i := range sources {
		ids[i] = sources[i].ID
	}
	counts, err := v.d.Store.SourceCounts(v.ctx(), v.account(), ids, countedHours, v.now())
	if err != nil {
		return err
	}
	having, err := v.d.Store.SourcesWithSecret(v.ctx(), v.account(), ids)
	if err != nil {
		return err
	}
	for _, s := range sources {
		row := page.SourceRow{SourceHead: v.sourceHead(s), Counts: countsOf(counts[s.ID])}
		row.Bereft = bereft(row.SourceHead, having[s.ID])
		view.Rows = append(view.Rows, row)
	}
	return v.page(page.SourcesPage(view))
}
