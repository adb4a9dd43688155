package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/app"
)

// maxPassword bounds, in bytes, what is read of a password: far above what any
// password holds.
const maxPassword = 4096

func newAccount(p program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "account",
		Short:   "Make accounts, and let people in again",
		Long:    "Make accounts: the tenants that sources, endpoints and events belong to. Or let somebody\nin again who has forgotten the password, or lost what makes their codes.",
		Example: "  rowlock account create --name Acme --email owner@example.com",
		Args:    subcommand,
		RunE:    choose,
	}
	cmd.AddCommand(newAccountCreate(p), newResetLink(p), newTwoStepOff(p))
	return cmd
}

// accountFlags are what account create is asked for.
type accountFlags struct {
	name, email         string
	passwordStdin, json bool
}

func newAccountCreate(p program) *cobra.Command {
	var flags accountFlags
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make an account with its owner and an API key",
		Long: `Make an account with its owner and an API key that has all scopes. The key is shown
this once. It works on the database itself, with the settings of serve; the server
may run or not. An owner without a password cannot log in until one is set with the
link that account reset-link makes.`,
		Example: `  rowlock account create --name Acme --email owner@example.com
  printf %s "$PASSWORD" | rowlock account create --name Acme --email owner@example.com --password-stdin --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return createAccount(cmd, p, flags)
		},
	}
	cmd.Flags().StringVar(&flags.name, "name", "", "name of the account (required)")
	cmd.Flags().StringVar(&flags.email, "email", "", "mail address of its owner (required)")
	cmd.Flags().BoolVar(&flags.passwordStdin, "password-stdin", false, "read the owner's password from standard input")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print account_id, user_id and api_key as one line of JSON")
	return cmd
}

func createAccount(cmd *cobra.Command, p program, flags accountFlags) error {
	account, err := flags.account(cmd.InOrStdin())
	if err != nil {
		return err
	}
	settings, err := p.settings()
	if err != nil {
		return err
	}
	created, err := app.CreateAccount(cmd.Context(), settings, newLogger(cmd.ErrOrStderr(), settings), account)
	if err != nil {
		return usageIf[*app.InputError](err)
	}
	if err := printAccount(cmd.OutOrStdout(), created, flags.json); err != nil || flags.json || account.Password != "" {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "\nThe owner has no password yet. For a link that sets one:\n  rowlock account reset-link --email %s\n", account.Email)
	if err != nil {
		return fmt.Errorf("print account: %w", err)
	}
	return nil
}

// account checks the flags and reads the password, if it is to be read.
func (f accountFlags) account(stdin io.Reader) (app.NewAccount, error) {
	account := app.NewAccount{Name: strings.TrimSpace(f.name), Email: strings.TrimSpace(f.email)}
	switch {
	case account.Name == "":
		return account, badUsage("--name is missing: the name of the account")
	case account.Email == "":
		return account, badUsage("--email is missing: the mail address of the account's owner")
	case !f.passwordStdin:
		return account, nil
	}
	password, err := readPassword(stdin)
	account.Password = password
	return account, err
}

// readPassword takes all of stdin, less the line end that echo adds.
func readPassword(stdin io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(stdin, maxPassword+1))
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case password == "":
		return "", badUsage("--password-stdin was given, and standard input is empty")
	case len(text) > maxPassword:
		return "", badUsage("the password on standard input is longer than %d bytes", maxPassword)
	}
	return password, nil
}

func printAccount(w io.Writer, created app.CreatedAccount, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(w).Encode(created); err != nil { //nolint:gosec // the key is what was asked for
			return fmt.Errorf("print account: %w", err)
		}
		return nil
	}
	_, err := fmt.Fprintf(w, "account  %s\nowner    %s\nAPI key  %s\n\nThe key is not shown again. To use it:\n  export ROWLOCK_API_KEY=%s\n",
		created.AccountID, created.UserID, created.APIKey, created.APIKey)
	if err != nil {
		return fmt.Errorf("print account: %w", err)
	}
	return nil
}

func newResetLink(p program) *cobra.Command {
	var email string
	cmd := &cobra.Command{
		Use:   "reset-link",
		Short: "Make a link that sets a new password",
		Long: `Make a link that sets a new password, for somebody who has forgotten theirs or has none
yet. It works once, within an hour; whoever has it can log in as them. It begins with
ROWLOCK_BASE_URL, and the server has to run when it is opened. The command works on the
database itself, with the settings of serve; no mail is sent.`,
		Example: "  rowlock account reset-link --email owner@example.com",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return makeResetLink(cmd, p, strings.TrimSpace(email))
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "mail address they log in with (required)")
	return cmd
}

func makeResetLink(cmd *cobra.Command, p program, email string) error {
	if email == "" {
		return badUsage("--email is missing: the mail address of who is to get a new password")
	}
	settings, err := p.settings()
	if err != nil {
		return err
	}
	link, err := app.MakeResetLink(cmd.Context(), settings, newLogger(cmd.ErrOrStderr(), settings), email)
	if err != nil {
		return usageIf[*app.InputError](err)
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), link); err != nil {
		return fmt.Errorf("print link: %w", err)
	}
	return nil
}
