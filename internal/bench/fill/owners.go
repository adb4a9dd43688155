package fill

import (
	"fmt"
	"iter"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// node is who did it all.
const node = "fill"

// owners are the rows that the history hangs on.
func (h *history) owners() []table {
	return []table{
		{"accounts", []string{"id", "name", "slug"}, h.eachAccount(func(n int, a *Account, put yield) {
			put([]any{a.ID, fmt.Sprintf("Account %d", n), fmt.Sprintf("fill-%d-%d", h.Seed, n)})
		})},
		{"sources", []string{"id", "account_id", "name", "kind", "token", "settings"}, h.eachAccount(sourceRows)},
		{"endpoints", []string{"id", "account_id", "url", "max_in_flight", "state", "state_changed_at"}, h.eachAccount(h.endpointRows)},
		{"lanes", []string{"endpoint_id", "account_id"}, h.eachAccount(func(_ int, a *Account, put yield) {
			for _, id := range a.Endpoints {
				put([]any{id, a.ID})
			}
		})},
	}
}

// eachAccount makes rows account by account. They are few: a reader that wants
// no more is not asked.
func (h *history) eachAccount(rows func(n int, a *Account, put yield)) iter.Seq[[]any] {
	var all [][]any
	for n := range h.accounts {
		rows(n, &h.accounts[n], func(row []any) bool {
			all = append(all, row)
			return true
		})
	}
	return func(put func([]any) bool) {
		for _, row := range all {
			if !put(row) {
				return
			}
		}
	}
}

func sourceRows(_ int, a *Account, put yield) {
	for i, id := range a.Sources {
		kind := "github"
		if i == 0 {
			kind = gateway.SourceKindAPI
		}
		put([]any{id, a.ID, fmt.Sprintf("Source %d", i), kind, id.String(), []byte{}})
	}
}

func (h *history) endpointRows(_ int, a *Account, put yield) {
	for i, id := range a.Endpoints {
		state := gateway.EndpointActive
		if h.isPaused(i) {
			state = gateway.EndpointPaused
		}
		put([]any{id, a.ID, fmt.Sprintf("https://example.com/%d", i), gateway.DefaultMaxInFlight, string(state), h.Until.Add(-pausedFor)})
	}
}

// numbers are the minutes of the last day, and the hours of all days.
func (h *history) numbers() []table {
	return []table{
		{"rollups", []string{"minute", "endpoint_id", "node", "account_id", "succeeded", "rejected", "duration_us"}, h.eachAccount(h.minutes)},
		{"usage", []string{"account_id", "hour", "node", "events", "bytes"}, h.eachAccount(h.hours)},
	}
}

func (h *history) minutes(_ int, a *Account, put yield) {
	for _, id := range a.Endpoints {
		for at := h.Until.Add(-day).Truncate(time.Minute); at.Before(h.Until); at = at.Add(time.Minute) {
			put([]any{at, id, node, a.ID, int64(10), int64(1), int64(220_000)})
		}
	}
}

func (h *history) hours(_ int, a *Account, put yield) {
	for at := h.since.Truncate(time.Hour); at.Before(h.Until); at = at.Add(time.Hour) {
		put([]any{a.ID, at, node, int64(100), int64(100 * len(h.body))})
	}
}
