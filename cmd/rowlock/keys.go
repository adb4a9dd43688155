package main

import (
	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
)

func newKeys(p program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "keys",
		Short:   "Change the keys under which secrets are stored",
		Long:    "Change the keys under which the secrets in the database are stored.",
		Example: "  rowlock keys rotate",
		Args:    subcommand,
		RunE:    choose,
	}
	cmd.AddCommand(newKeysRotate(p))
	return cmd
}

func newKeysRotate(p program) *cobra.Command {
	return &cobra.Command{
		Use:   "rotate",
		Short: "Re-encrypt stored secrets under a new master key",
		Long: `Re-encrypt every stored secret under a new master key, while servers run. It works on
the database itself, with the settings of serve, and can be run again whenever it was
interrupted: it goes on where it stopped.

With a database of your own:
  1. Make a key: openssl rand -base64 32
  2. Restart each node with it as ROWLOCK_MASTER_KEY, and with the key before it as
     ROWLOCK_MASTER_KEY_PREVIOUS. Either opens what is stored.
  3. Run rowlock keys rotate, with the same two settings.
  4. Take ROWLOCK_MASTER_KEY_PREVIOUS out again. Keep the old key for as long as you
     keep backups from before: they open with nothing else.

With the embedded database the key lies in master.key under ROWLOCK_DATA_DIR: the
command makes the new one, keeps the old one as master.key.previous meanwhile, and
removes it in the end. Dumps of the database from before need a copy of it.`,
		Example: `  rowlock keys rotate
  ROWLOCK_MASTER_KEY="$NEW" ROWLOCK_MASTER_KEY_PREVIOUS="$OLD" rowlock keys rotate`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := p.settings()
			if err != nil {
				return err
			}
			return app.RotateKeys(cmd.Context(), settings, newLogger(cmd.ErrOrStderr(), settings), cmd.OutOrStdout())
		},
	}
}
