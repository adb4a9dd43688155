package accept

import (
	"fmt"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/source/settings"
)

// settingsOf reads what a source chose. It was checked when it was saved; an
// error means that this version knows less than the one then.
func settingsOf(source gateway.Source) (settings.Chosen, error) {
	chosen, err := settings.Split(source.Settings)
	if err != nil {
		return chosen, fmt.Errorf("read the settings of source %s: %w", source.ID, err)
	}
	return chosen, nil
}
