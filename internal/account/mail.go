package account

import (
	"context"
	"fmt"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// addMail writes a mail in the transaction that earns it, and has it sent if
// mails are.
func (s *Service) addMail(ctx context.Context, tx store.Tx, m store.Mail) error {
	m.ID = gateway.MailID(s.clock.NewID())
	if err := tx.AddMail(ctx, m, s.smtp); err != nil || !s.smtp {
		return err
	}
	return tx.Enqueue(ctx, job.Mail{MailID: m.ID})
}

func resetMail(baseURL, to, token string) store.Mail {
	return store.Mail{To: to, Subject: "Set a new password for Rowlock", Body: fmt.Sprintf(`Somebody, most likely you, asked for a new password for %[1]s.

Set it here within %[2]d minutes:

%[3]s

If it was not you, do nothing: the password stays as it is.
`, baseURL, int(resetLives/time.Minute), resetLink(baseURL, token))}
}

func passwordChangedMail(baseURL, to string) store.Mail {
	return store.Mail{To: to, Subject: "Your password for Rowlock was changed", Body: fmt.Sprintf(`Your password for %[1]s was changed, and you were logged out everywhere else.

If it was not you, set a new one now:

%[1]s/forgot
`, baseURL)}
}

func inviteMail(baseURL, to, token string) store.Mail {
	return store.Mail{To: to, Subject: "You are invited to Rowlock", Body: fmt.Sprintf(`You are invited to sign up at %[1]s, with this mail address.

Do it here within %[2]d days:

%[1]s/invite/%[3]s

If you do not know what this is, do nothing.
`, baseURL, inviteDays, token)}
}

func joinMail(baseURL, to, account string, role gateway.Role, token string) store.Mail {
	return store.Mail{To: to, Subject: "You are invited to " + account + " on Rowlock", Body: fmt.Sprintf(`You are invited to “%[1]s” at %[2]s, as %[3]s.

Join within %[4]d days, with this mail address:

%[2]s/invite/%[5]s

If you do not know what this is, do nothing.
`, account, baseURL, role.WithArticle(), inviteDays, token)}
}

func removedMail(baseURL, to, account string) store.Mail {
	return store.Mail{To: to, Subject: "You were removed from " + account + " on Rowlock", Body: fmt.Sprintf(`You are no member of “%[1]s” at %[2]s any more.

If you think that this is a mistake, ask an owner of the account.
`, account, baseURL)}
}

func ownerMail(baseURL, to, from string, account gateway.Account) store.Mail {
	return store.Mail{To: to, Subject: "You own " + account.Name + " on Rowlock", Body: fmt.Sprintf(`%[1]s handed “%[2]s” over to you. You are its owner now:

%[3]s/a/%[4]s/settings/members
`, from, account.Name, baseURL, account.Slug)}
}

func closedMail(baseURL, to, by string, account gateway.Account, at time.Time) store.Mail {
	return store.Mail{To: to, Subject: account.Name + " on Rowlock is to be deleted", Body: fmt.Sprintf(`%[1]s has “%[2]s” deleted. It happens on %[3]s UTC.

Until then what comes in is kept and nothing is delivered, and an owner can
restore everything with a button:

%[4]s/a/%[5]s/settings
`, by, account.Name, at.UTC().Format("2 January 2006, 15:04"), baseURL, account.Slug)}
}

func restoredMail(baseURL, to, by string, account gateway.Account) store.Mail {
	return store.Mail{To: to, Subject: account.Name + " on Rowlock was restored", Body: fmt.Sprintf(`%[1]s restored “%[2]s”. It is not deleted, and what was held is delivered now:

%[3]s/a/%[4]s
`, by, account.Name, baseURL, account.Slug)}
}

func twoStepRequiredMail(baseURL, to, by string, account gateway.Account) store.Mail {
	return store.Mail{To: to, Subject: account.Name + " on Rowlock asks for two-step log-in", Body: fmt.Sprintf(`%[1]s has made two-step log-in required in “%[2]s” at %[3]s. You have not turned it on, and see nothing of the account until you do.

Turn it on here. You need a program that makes codes, on your phone or in a password manager:

%[3]s/me/two-step

Then go on as before:

%[3]s/a/%[4]s
`, by, account.Name, baseURL, account.Slug)}
}

func twoStepOnMail(baseURL, to string) store.Mail {
	return store.Mail{To: to, Subject: "Two-step log-in was turned on for Rowlock", Body: fmt.Sprintf(`From now on a code is asked for besides your password at %[1]s, and you were logged out everywhere else.

If it was not you, somebody knows your password. Ask whoever runs this instance to turn it off again, and set a new password:

%[1]s/forgot
`, baseURL)}
}

func twoStepOffMail(baseURL, to string) store.Mail {
	return store.Mail{To: to, Subject: "Two-step log-in was turned off for Rowlock", Body: fmt.Sprintf(`Your password alone lets you in at %[1]s now, and your recovery codes are worth nothing any more.

If it was not you, set a new password now, and turn two-step log-in on again:

%[1]s/forgot
`, baseURL)}
}

func newCodesMail(baseURL, to string) store.Mail {
	return store.Mail{To: to, Subject: "New recovery codes were made for Rowlock", Body: fmt.Sprintf(`You have new recovery codes for %[1]s. Those from before are worth nothing any more.

If it was not you, set a new password now, and make codes of your own:

%[1]s/forgot
`, baseURL)}
}

func codeUsedMail(baseURL, to string, left int) store.Mail {
	return store.Mail{To: to, Subject: "A recovery code was used for Rowlock", Body: fmt.Sprintf(`Somebody, most likely you, logged in at %[1]s with a recovery code. You have %[2]d left.

If what makes your codes is lost, turn two-step log-in off and on again, with another one:

%[1]s/me/two-step

If it was not you, set a new password now:

%[1]s/forgot
`, baseURL, left)}
}

func newEmailMail(baseURL, to, token string) store.Mail {
	return store.Mail{To: to, Subject: "Log in to Rowlock with this address", Body: fmt.Sprintf(`Somebody, most likely you, wants to log in at %[1]s with this address.

Say so here within %[2]d minutes:

%[1]s/me/email/%[3]s

If it was not you, do nothing: it stays as it is.
`, baseURL, int(emailLives/time.Minute), token)}
}

func emailAskedMail(baseURL, to, email string) store.Mail {
	return store.Mail{To: to, Subject: "Another address was given for your log-in to Rowlock", Body: fmt.Sprintf(`Somebody, most likely you, wants to log in at %[1]s with %[2]s in place of this address. Nothing changes before that mailbox has said so.

If it was not you, somebody knows your password. Set a new one now, which also takes the wish back:

%[1]s/forgot
`, baseURL, email)}
}

func emailChangedMail(baseURL, to, from, email string) store.Mail {
	return store.Mail{To: to, Subject: "Your address for Rowlock was changed", Body: fmt.Sprintf(`You log in at %[1]s with %[3]s from now on, and no longer with %[2]s. You were logged out everywhere else.

If it was not you, tell whoever runs this instance at once.
`, baseURL, from, email)}
}
