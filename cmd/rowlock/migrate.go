package main

import (
	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
)

func newMigrate(p program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Apply the database's migrations, or show them",
		Long: `Apply the database's migrations, or show them. serve applies them at start, unless
ROWLOCK_AUTO_MIGRATE=false. The settings are those of serve.`,
		Example: `  rowlock migrate status
  rowlock migrate up`,
		Args: subcommand,
		RunE: choose,
	}
	cmd.AddCommand(newMigrateUp(p), newMigrateStatus(p))
	return cmd
}

func newMigrateUp(p program) *cobra.Command {
	return &cobra.Command{
		Use:     "up",
		Short:   "Apply what is missing",
		Long:    "Apply the migrations that are missing. Several processes may do so at once: one of them works, the others wait. Prints what was applied.",
		Example: "  rowlock migrate up",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := p.settings()
			if err != nil {
				return err
			}
			return app.MigrateUp(cmd.Context(), settings, newLogger(cmd.ErrOrStderr(), settings), cmd.OutOrStdout())
		},
	}
}

func newMigrateStatus(p program) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show which are applied and which are missing",
		Example: "  rowlock migrate status",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := p.settings()
			if err != nil {
				return err
			}
			return app.MigrateStatus(cmd.Context(), settings, cmd.OutOrStdout())
		},
	}
}
