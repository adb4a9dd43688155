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

// numbers are the minutes of the last day, the longer spans of a month, and the
// hours of all days.
func (h *history) numbers() []table {
	return []table{
		{"rollups", []string{
			"minute", "span", "endpoint_id", "node", "account_id", "succeeded", "rejected", "gave_up", "duration_us", "ms_20", "ms_32",
		}, h.eachAccount(h.rollups)},
		{"usage", []string{"account_id", "hour", "source_id", "node", "events", "bytes"}, h.eachAccount(h.hours)},
		{"type_counts", []string{"account_id", "hour", "type", "node", "events"}, h.eachAccount(h.types)},
	}
}

// spans are what rollups are kept by, and for how long here.
var spans = []struct{ length, kept time.Duration }{
	{time.Minute, day}, {15 * time.Minute, 30 * day}, {2 * time.Hour, 30 * day},
}

func (h *history) rollups(_ int, a *Account, put yield) {
	for _, id := range a.Endpoints {
		for _, s := range spans {
			n := int64(s.length / time.Minute)
			for at := h.Until.Add(-s.kept).Truncate(s.length); at.Before(h.Until); at = at.Add(s.length) {
				put([]any{at, n, id, node, a.ID, 10 * n, n, n / 15, 220_000 * n, 8 * n, 3 * n})
			}
		}
	}
}

func (h *history) hours(_ int, a *Account, put yield) {
	for at := h.since.Truncate(time.Hour); at.Before(h.Until); at = at.Add(time.Hour) {
		for _, id := range a.Sources {
			put([]any{a.ID, at, id, node, int64(100), int64(100 * len(h.body))})
		}
	}
}

// types counts what the shares of types make of the hours' events.
func (h *history) types(_ int, a *Account, put yield) {
	for at := h.since.Truncate(time.Hour); at.Before(h.Until); at = at.Add(time.Hour) {
		left := int64(100 * len(a.Sources))
		for _, s := range eventTypes[1:] {
			n := int64(100*len(a.Sources)*s.of) / million
			left -= n
			put([]any{a.ID, at, s.value, node, n})
		}
		put([]any{a.ID, at, eventTypes[0].value, node, left})
	}
}
