package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/client"
)

// sendFlags are what send is asked for beside the type.
type sendFlags struct{ data, key, subject string }

func newSend(p program) *cobra.Command {
	var flags sendFlags
	cmd := &cobra.Command{
		Use:   "send TYPE",
		Short: "Publish one event",
		Long: `Publish one event to a running server, and print its id once it is stored. The data
is delivered byte for byte as it is given.

Environment:
  ROWLOCK_SERVER   address of the server (default ` + client.DefaultServer + `)
  ROWLOCK_API_KEY  an API key with the scope publish (required)`,
		Example: `  rowlock send order.created --data '{"order":42}' --key order-42-created
  rowlock send order.created --data @order.json
  jq -c .order order.json | rowlock send order.created --data -`,
		Args: oneType,
		RunE: func(cmd *cobra.Command, args []string) error {
			return send(cmd, p, args[0], flags)
		},
	}
	cmd.Flags().StringVar(&flags.data, "data", "{}", "the event's data: JSON, @file, or - for standard input")
	cmd.Flags().StringVar(&flags.key, "key", "", "makes repeats harmless: the same key is one event")
	cmd.Flags().StringVar(&flags.subject, "subject", "", "what the event is about, for example a customer's id")
	return cmd
}

func oneType(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return badUsage("the event's type is missing, for example order.created")
	case len(args) > 1:
		return badUsage("%s takes one event type, and got %q as well; does --data need quotes?", cmd.CommandPath(), args[1])
	}
	return nil
}

func send(cmd *cobra.Command, p program, eventType string, flags sendFlags) error {
	if flags.key == "" && cmd.Flags().Changed("key") {
		return badUsage("--key is empty: give the event a key, or leave the flag out")
	}
	data, err := client.ReadData(flags.data, cmd.InOrStdin())
	if errors.Is(err, fs.ErrNotExist) {
		return &hinted{err, "What follows @ is the path of a file. To send a text that begins with @, put it in double quotes, as JSON has it: --data '\"@text\"'."}
	}
	if err != nil {
		return usageIf[*client.DataError](err)
	}
	c, err := client.FromEnviron(p.environ)
	if err != nil {
		return usageIf[*client.SettingError](err)
	}
	accepted, err := c.Publish(cmd.Context(), client.Event{Type: eventType, Subject: flags.subject, Key: flags.key, Data: data})
	if err != nil {
		return err
	}
	note := "accepted"
	if accepted.Duplicate {
		note = "known already: no new event"
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", accepted.ID, note); err != nil {
		return fmt.Errorf("print event: %w", err)
	}
	return nil
}

// usageIf makes errors of type E bad usage and leaves others as they are.
func usageIf[E error](err error) error {
	if _, ok := errors.AsType[E](err); ok {
		return &usageError{err}
	}
	return err
}
