package app

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"riverqueue.com/riverui"
)

// consolePath is where the dashboard serves the queue's console.
const consolePath = "/instance/jobs"

// jobConsole makes River's own console. It is not started: that would only have
// it count jobs in the background, where it can be asked by nobody to stop. It
// counts them when somebody looks.
func jobConsole(queue *river.Client[pgx.Tx], log *slog.Logger) (http.Handler, error) {
	console, err := riverui.NewHandler(&riverui.HandlerOpts{
		Endpoints: riverui.NewEndpoints(queue, nil), Logger: log, Prefix: consolePath,
	})
	if err != nil {
		return nil, fmt.Errorf("make the job console: %w", err)
	}
	return console, nil
}
