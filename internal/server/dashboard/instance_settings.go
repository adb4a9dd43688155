package dashboard

import (
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// settingGroups are the settings by what they are about, in the order in which
// they are shown; what is in none of them comes last.
var settingGroups = []struct {
	group page.SettingGroup
	names []string
}{
	{page.SettingGroup{ID: "limits", Title: "Limits", Note: "0 is no limit"}, []string{
		"ROWLOCK_ACCOUNT_MAX_ENDPOINTS", "ROWLOCK_ACCOUNT_EVENTS_PER_SECOND", "ROWLOCK_ACCOUNT_STORED_BYTES", "ROWLOCK_KEY_EVENTS_PER_SECOND", "ROWLOCK_MAX_BODY",
	}},
	{page.SettingGroup{ID: "kept", Title: "How long things are kept", Note: "by days, which go as a whole"}, []string{
		"ROWLOCK_RETENTION", "ROWLOCK_DEDUPE_WINDOW", "ROWLOCK_CLAIM_RETENTION",
	}},
	{page.SettingGroup{ID: "deliver", Title: "Delivery", Note: "endpoints may have their own"}, []string{
		"ROWLOCK_RETRY_SCHEDULE", "ROWLOCK_DELIVERY_TIMEOUT", "ROWLOCK_DISABLE_AFTER", "ROWLOCK_WORKERS", "ROWLOCK_ALLOW_NETWORKS",
	}},
	{page.SettingGroup{ID: "process", Title: "The process", Note: "addresses, keys, logs"}, nil},
}

func showInstanceSettings(v *visit) error {
	view := page.InstanceSettings{Version: v.d.Version, Groups: v.settingGroups()}
	var err error
	if view.Frame, _, err = v.frame("Limits and settings", layout.SectionInstance); err != nil {
		return err
	}
	return v.page(page.InstanceSettingsPage(view))
}

func (v *visit) settingGroups() []page.SettingGroup {
	left := make(map[string]page.SettingRow, len(v.d.Settings))
	for _, s := range v.d.Settings {
		left[s.Name] = page.SettingRow{Name: s.Name, Meaning: s.Meaning, Value: s.Value, Default: s.Default}
	}
	groups := make([]page.SettingGroup, len(settingGroups))
	for i, g := range settingGroups {
		groups[i] = g.group
		for _, name := range g.names {
			groups[i].Rows = append(groups[i].Rows, left[name])
			delete(left, name)
		}
	}
	last := &groups[len(groups)-1]
	for _, s := range v.d.Settings {
		if row, ok := left[s.Name]; ok {
			last.Rows = append(last.Rows, row)
		}
	}
	return groups
}
