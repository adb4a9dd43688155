package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// NewAccount is what CreateAccount is asked for.
type NewAccount struct {
	Name, Email string
	// Password may be empty: then its owner cannot log in yet.
	Password string
}

// CreatedAccount is what was made. The key's text is not kept anywhere.
type CreatedAccount struct {
	AccountID string `json:"account_id"`
	UserID    string `json:"user_id"`
	APIKey    string `json:"api_key"`
}

// CreateAccount makes an account with its owner and an API key, on the
// database itself: with the embedded one, on the one that runs under the data
// directory, or else starting it for the call. What is wrong with n is an
// *InputError.
func CreateAccount(ctx context.Context, c config.Config, log *slog.Logger, n NewAccount) (created CreatedAccount, err error) {
	err = withAccounts(ctx, c, log, func(accounts *account.Service) error {
		made, err := accounts.Create(ctx, account.New{Name: n.Name, Email: n.Email, Password: n.Password})
		if err != nil {
			return accountError(err, "account create")
		}
		created = CreatedAccount{AccountID: made.AccountID.String(), UserID: made.UserID.String(), APIKey: made.APIKey}
		return nil
	})
	return created, err
}

// MakeResetLink makes a link that sets a new password for the person with this
// address, once, within an hour. It opens the database as CreateAccount does.
// What is no address is an *InputError.
func MakeResetLink(ctx context.Context, c config.Config, log *slog.Logger, email string) (link string, err error) {
	err = withAccounts(ctx, c, log, func(accounts *account.Service) (err error) {
		link, err = accounts.MakeResetLink(ctx, email)
		return accountError(err, "account reset-link")
	})
	return link, err
}

// EndTwoStep turns two-step log-in off for the person with this address, who is
// told by mail. It opens the database as CreateAccount does. What is no address is
// an *InputError.
func EndTwoStep(ctx context.Context, c config.Config, log *slog.Logger, email string) error {
	return withAccounts(ctx, c, log, func(accounts *account.Service) error {
		err := accounts.EndTwoStep(ctx, email)
		if errors.Is(err, gateway.ErrStateChanged) {
			return &advised{errors.New("two-step log-in is off for this user"), "Their password alone lets them in; account reset-link makes a link that sets another."}
		}
		return accountError(err, "account two-step-off")
	})
}

// withAccounts opens the database for one call.
func withAccounts(ctx context.Context, c config.Config, log *slog.Logger, call func(*account.Service) error) error {
	return withStore(ctx, c, log, func(s *store.Store) error {
		now := clock.New()
		if err := observe(ctx, s, now); err != nil {
			return err
		}
		return call(account.NewService(account.Options{Store: s, Clock: now, Signup: c.Signup, BaseURL: string(c.BaseURL), SMTP: c.SMTPURL != ""}))
	})
}

// InputError is something that was asked for and cannot be: asking again in the
// same way cannot help.
type InputError struct {
	cause   error
	command string
}

// Error tells what is wrong, one line for each field.
func (e *InputError) Error() string { return e.cause.Error() }

// Unwrap returns the faults.
func (e *InputError) Unwrap() error { return e.cause }

// Hint says where more is told.
func (e *InputError) Hint() string {
	return "`rowlock " + e.command + " --help` tells what is asked for, and how."
}

// accountError says what to do about an error of the command.
func accountError(err error, command string) error {
	var invalid *gateway.InvalidError
	switch {
	case errors.As(err, &invalid):
		return &InputError{err, command}
	case errors.Is(err, gateway.ErrEmailTaken):
		return &advised{errors.New("another user has this mail address"), "Every account has an owner of its own: choose another address."}
	case errors.Is(err, gateway.ErrNotFound):
		return &advised{errors.New("no user has this mail address"), "It has to be the address they log in with; ROWLOCK_DATABASE_URL and ROWLOCK_DATA_DIR have to be those of serve."}
	default:
		return err
	}
}
