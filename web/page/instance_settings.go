package page

import "github.com/rowlock/rowlock/web/layout"

// InstanceSettings is what this server runs with, for the instance's owner.
type InstanceSettings struct {
	layout.Frame

	// Groups are the settings by what they are about.
	Groups []SettingGroup
	// Version is the product's.
	Version string
}

// SettingGroup is some settings, with what they have in common.
type SettingGroup struct {
	ID, Title, Note string
	Rows            []SettingRow
}

// SettingRow is one setting.
type SettingRow struct {
	// Name is the environment variable, Meaning what it is for.
	Name, Meaning string
	// Value is what holds, Default what would if nothing were set; both may be
	// empty. Secrets are left out of them.
	Value, Default string
}

// changed tells that somebody has set it.
func (r SettingRow) changed() bool { return r.Value != r.Default }
