package main

import (
	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
	"github.com/rowlock/rowlock/internal/config"
)

func newDoctor(p program) *cobra.Command {
	var ready bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, database, migrations, clock, disk, mail and egress",
		Long: `Check configuration, database, migrations, clock, disk, mail and egress with the
settings of serve: one line a check, which says what to do where something is wrong.
The exit code is 1 when a fault was found; a note is no fault.

With --ready, ask only the server that runs here whether it can do its work, as
container engines do for a health check.`,
		Example: "  rowlock doctor\n  rowlock doctor --ready",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Settings are among what is checked: a wrong one is a fault
			// found, not a wrong call of doctor.
			settings, err := config.Load(p.environ)
			if err != nil {
				return settingsError(err)
			}
			if ready {
				return app.Ready(cmd.Context(), settings, cmd.OutOrStdout())
			}
			return app.Doctor(cmd.Context(), settings, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "only ask the server at ROWLOCK_LISTEN whether it is ready")
	return cmd
}
