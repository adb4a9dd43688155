package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/demo"
)

// receiverCommand is the process of its own in which a demo receives.
const receiverCommand = "receiver"

func newDemo(p program) *cobra.Command {
	var email string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the product at work: an account with live traffic",
		Long: `Make an account with sources, endpoints and event types, and keep it busy until Ctrl-C:
signed webhooks of providers, repeats, late reports, forgeries, published events, a
receiver that fails at times, a mailer that claims its work, and a claim that is stuck.
It prints where to look, and how to log in.

It uses the server that runs with the same settings, or the one that ROWLOCK_SERVER
names; if none runs, it runs one itself meanwhile. The account is made on the database,
with the settings of serve. It stays when the demo ends, with its endpoints paused.

Its receiver is a process of its own on a free port of 127.0.0.1. Deliveries of this
account alone may go there, as long as the demo runs, whatever ROWLOCK_ALLOW_NETWORKS
says: so the server's workers have to run on this machine.`,
		Example: `  rowlock demo
  ROWLOCK_DATA_DIR=/tmp/rowlock-demo rowlock demo
  rowlock demo --email you@example.com`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd, p, strings.TrimSpace(email))
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "mail address of the account's owner (default one that is made up)")
	cmd.AddCommand(newDemoReceiver())
	return cmd
}

// newDemoReceiver is the receiver's process, which a demo starts.
func newDemoReceiver() *cobra.Command {
	return &cobra.Command{
		Use:     receiverCommand,
		Short:   "Receive for a demo, which starts this",
		Example: "  rowlock demo",
		Hidden:  true,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo.Receive(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func runDemo(cmd *cobra.Command, p program, email string) (err error) {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	log := slog.New(atLeast{slog.LevelWarn, newLogger(cmd.ErrOrStderr(), settings).Handler()})
	app.CatchLibraryLog(log)
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the own program: %w", err)
	}
	r, err := demo.StartReceiver(cmd.Context(), cmd.ErrOrStderr(), self, cmd.Name(), receiverCommand)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	o := app.DemoOptions{
		Config: settings, Log: log, Version: versionText(), Email: email, Receiver: r.Address(), Server: client.ServerFrom(p.environ),
	}
	err = app.HostDemo(cmd.Context(), o, func(ctx context.Context, at app.Site) error {
		return demo.Run(ctx, demo.Options{
			Server: at.Server, Key: at.Key, Dashboard: at.Dashboard, Email: at.Email, Password: at.Password, Own: at.Own,
			Receiver: r, Out: cmd.OutOrStdout(),
		})
	})
	return usageIf[*client.SettingError](usageIf[*app.InputError](err))
}

// atLeast drops what is less than a level: a server that runs for a demo would bury
// what the demo says.
type atLeast struct {
	slog.Level
	slog.Handler
}

// Enabled tells whether a level is written.
func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.Level && h.Handler.Enabled(ctx, level)
}

// WithAttrs keeps the level.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Level, h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the level.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Level, h.Handler.WithGroup(name)}
}
