package main

import (
	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
)

// allRoles is everything in one process.
const allRoles = "web,api,ingest,worker"

func newServe(p program) *cobra.Command {
	var roles string
	var kit bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: `Run the whole gateway in one process, or with --roles some parts of it, to run them
as separate fleets on one database.

Without a database URL, it runs a PostgreSQL of its own under the data directory.

On SIGINT or SIGTERM it stops accepting, lets sends under way finish, and ends; a
second signal ends it at once.

` + settingsHelp(),
		Example: `  rowlock serve
  ROWLOCK_DATABASE_URL=postgres://rowlock@db/rowlock ROWLOCK_MASTER_KEY=… rowlock serve
  rowlock serve --roles api,ingest`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd, p, roles, kit)
		},
	}
	cmd.Flags().StringVar(&roles, "roles", allRoles, "the parts that this process runs, separated by commas")
	cmd.Flags().BoolVar(&kit, "kit", false, "serve a page of all components at /kit")
	cmd.Flags().Lookup("kit").Hidden = true
	return cmd
}

func serve(cmd *cobra.Command, p program, roles string, kit bool) error {
	parsed, err := app.ParseRoles(roles)
	if err != nil {
		return badUsage("--roles: %w", err)
	}
	settings, err := p.settings()
	if err != nil {
		return err
	}
	log := newLogger(cmd.ErrOrStderr(), settings)
	app.CatchLibraryLog(log)
	return app.Serve(cmd.Context(), app.ServeOptions{
		Config:  settings,
		Roles:   parsed,
		Log:     log,
		Version: versionText(),
		Stdout:  cmd.OutOrStdout(),
		Kit:     kit,
	})
}
