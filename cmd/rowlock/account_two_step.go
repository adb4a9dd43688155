package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
)

func newTwoStepOff(p program) *cobra.Command {
	var email string
	cmd := &cobra.Command{
		Use:   "two-step-off",
		Short: "Turn somebody's two-step log-in off",
		Long: `Turn two-step log-in off for somebody who has lost what makes their codes, and the
recovery codes too. Make sure that it is them who ask: from then on their password alone
lets in. It stays as it is, and they are told by mail. The command works on the database
itself, with the settings of serve.`,
		Example: "  rowlock account two-step-off --email owner@example.com",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return turnTwoStepOff(cmd, p, strings.TrimSpace(email))
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "mail address they log in with (required)")
	return cmd
}

func turnTwoStepOff(cmd *cobra.Command, p program, email string) error {
	if email == "" {
		return badUsage("--email is missing: the mail address of whose two-step log-in is to be turned off")
	}
	settings, err := p.settings()
	if err != nil {
		return err
	}
	if err := app.EndTwoStep(cmd.Context(), settings, newLogger(cmd.ErrOrStderr(), settings), email); err != nil {
		return usageIf[*app.InputError](err)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Two-step log-in is off for %s.\n", email); err != nil {
		return fmt.Errorf("print what was done: %w", err)
	}
	return nil
}
