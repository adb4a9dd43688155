package gateway

import "time"

const (
	// MaxSavedViews bounds those that one person has in an account: they stand side
	// by side above a list.
	MaxSavedViews = 20
	// MaxSavedViewName bounds the name of one of them, in characters.
	MaxSavedViewName = 60
	// MaxSavedViewQuery bounds what one of them is narrowed by, in bytes.
	MaxSavedViewQuery = 2048
)

// SavedView is a list of events that a person has given a name.
type SavedView struct {
	Name string
	// Query is what the list is narrowed by, as its address has it.
	Query     string
	CreatedAt time.Time
}
