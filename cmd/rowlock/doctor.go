package main

import (
	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
	"github.com/rowlock/rowlock/internal/config"
)

func newDoctor(p program) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, database, migrations, clock, disk and egress",
		Long: `Check configuration, database, migrations, clock, disk and egress with the settings
of serve, one line a check. The exit code is 1 when a fault was found.`,
		Example: "  rowlock doctor",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Settings are among what is checked: a wrong one is a fault
			// found, not a wrong call of doctor.
			settings, err := config.Load(p.environ)
			if err != nil {
				return settingsError(err)
			}
			return app.Doctor(cmd.Context(), settings, cmd.OutOrStdout())
		},
	}
}
