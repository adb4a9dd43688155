package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// newRoot puts the commands together.
func newRoot(p program) *cobra.Command {
	root := &cobra.Command{
		Use:   "rowlock",
		Short: "A webhook gateway: takes events in, keeps them, and delivers them",
		Long: `Rowlock takes events in, from providers' webhooks or from your application,
keeps each one before it answers, and delivers it to the endpoints that asked.

  Acknowledged is never lost. Confirmed is never repeated. Everything else is retried.`,
		Example: `  rowlock serve
  rowlock account create --name Acme --email owner@example.com
  rowlock send order.created --data '{"order":42}'`,
		Args:          subcommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(
		newServe(p),
		newMigrate(p),
		newAccount(p),
		newKeys(p),
		newDemo(p),
		newListen(p),
		newSend(p),
		newReceiver(),
		newBench(p),
		newDoctor(p),
		newVersion(),
	)
	return root
}

// newHelp is help as a command. The library's own would answer a name that is
// no command with success.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Explain a command",
		Example: "  rowlock help serve",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil {
				return &usageError{err}
			}
			if len(rest) > 0 {
				return subcommand(cmd, rest)
			}
			cmd.InitDefaultHelpFlag() // as it has when it is called itself
			return cmd.Help()
		},
	}
}

// subcommand is the Args of a command that only holds others: whatever stands
// there is none of them.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return badUsage("%q is not a command of %s; did you mean %s?", args[0], cmd.CommandPath(), strings.Join(like, " or "))
	}
	return badUsage("%q is not a command of %s", args[0], cmd.CommandPath())
}

// noArguments is the Args of a command that takes flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return badUsage("%s takes no argument, and got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// choose is the RunE of a command that does nothing without one of its own.
func choose(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return badUsage("%s needs one of: %s", cmd.CommandPath(), strings.Join(names, ", "))
}
