package dashboard

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// Limits are what an account may have, and how long things are kept; zero is no
// limit.
type Limits struct {
	// Endpoints and EventsPerSecond are numbers, StoredBytes those of payloads
	// within the retention.
	Endpoints, EventsPerSecond int
	StoredBytes                int64
	// DedupeWindow is how long event keys are kept, ClaimRetention how long ended
	// claims of the ledger.
	DedupeWindow, ClaimRetention time.Duration
}

func showRetention(v *visit) error {
	endpoints, err := v.d.Store.CountEndpoints(v.ctx(), v.account())
	if err != nil {
		return err
	}
	bytes, err := v.d.Store.StoredBytes(v.ctx(), v.account(), v.now().Add(-v.d.Retention))
	if err != nil {
		return err
	}
	most := v.d.Limits
	view := page.Retention{
		Now: v.now(), Events: v.d.Retention, Keys: most.DedupeWindow, Claims: most.ClaimRetention,
		Limits: []page.AccountLimit{
			{Name: "Endpoints", Note: "Deleted ones do not count.", Used: int64(endpoints), Most: int64(most.Endpoints)},
			{Name: "Stored payloads", Note: "Of events within their retention. Beyond it, what is sent in is answered 429 until older ones have gone.", Used: bytes, Most: most.StoredBytes, Write: component.Bytes[int64]},
			{Name: "Events a second", Note: "Of all sources and keys together. What is faster is answered 429, with when to try again.", Most: int64(most.EventsPerSecond), Rate: true},
		},
	}
	if view.Frame, _, err = v.frame("Retention and limits", layout.SectionSettings); err != nil {
		return err
	}
	return v.page(page.RetentionPage(view))
}
