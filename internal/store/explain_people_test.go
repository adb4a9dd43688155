package store_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// people come and go. Whoever is asked for outside of the transaction is not
// there: the plans are the same.
func (x *explained) people() []call {
	return slices.Concat(x.founding(), x.members(), x.closing(), x.sessions(), x.comingIn(), x.passwords(), x.twoStep(), x.emails(), x.mails(), x.keys())
}

// newUser makes a person in the transaction.
func (x *explained) newUser(ctx context.Context, tx store.Tx) (store.User, error) {
	user := store.User{ID: gateway.UserID(x.b.clock.NewID()), Email: "someone@example.com", Name: "Someone"}
	return user, tx.CreateUser(ctx, user, "")
}

// withUser is a call within the transaction, on a person made in it.
func (x *explained) withUser(name string, do func(context.Context, store.Tx, store.User) error) call {
	return done(name, func(ctx context.Context, tx store.Tx) error {
		user, err := x.newUser(ctx, tx)
		if err != nil {
			return err
		}
		return do(ctx, tx, user)
	})
}

func (x *explained) founding() []call {
	strangers := gateway.UserID(x.b.clock.NewID())
	return []call{
		x.withUser("a new account and its owner", func(ctx context.Context, tx store.Tx, user store.User) error {
			account := gateway.Account{ID: gateway.AccountID(x.b.clock.NewID()), Name: "New", Slug: "new"}
			if err := tx.CreateAccount(ctx, account); err != nil {
				return err
			}
			if err := tx.AddMember(ctx, account.ID, user.ID, gateway.RoleOwner); err != nil {
				return err
			}
			_, err := tx.ClaimInstance(ctx, user.ID)
			return err
		}),
		inTx("rename account", func(ctx context.Context, tx store.Tx) (bool, error) { return tx.RenameAccount(ctx, x.owner.ID, "x") }),
		only("memberships", func(ctx context.Context) ([]store.Membership, error) { return x.Memberships(ctx, strangers) }),
		missing("membership", func(ctx context.Context) error { _, err := x.Membership(ctx, x.owner.ID, strangers); return err }),
		missing("membership by slug", func(ctx context.Context) error {
			_, err := x.MembershipBySlug(ctx, "acme", strangers)
			return err
		}),
		done("visit", func(ctx context.Context, _ store.Tx) error { return x.VisitAccount(ctx, strangers, x.owner.ID) }),
		done("rename user", func(ctx context.Context, tx store.Tx) error {
			_, err := tx.RenameUser(ctx, strangers, "x")
			return wantMissing(err)
		}),
		only("all accounts", func(ctx context.Context) ([]store.InstanceAccount, error) {
			return x.InstanceAccounts(ctx, store.Page[gateway.AccountID]{Limit: listed})
		}),
	}
}

func (x *explained) members() []call {
	stranger, invitation := gateway.UserID(x.b.clock.NewID()), gateway.InvitationID(x.b.clock.NewID())
	actor := gateway.Actor(gateway.KeyID(x.b.clock.NewID()).String())
	refused := func(err error) error {
		if errors.Is(err, gateway.ErrNotFound) || errors.Is(err, gateway.ErrOwnerNeeded) {
			return nil
		}
		return errors.Join(errors.New("somebody was changed"), err)
	}
	return []call{
		done("see a member", func(ctx context.Context, _ store.Tx) error {
			return x.SeeMember(ctx, x.owner.ID, stranger, time.Minute)
		}),
		only("members", func(ctx context.Context) ([]store.Member, error) {
			return x.Members(ctx, x.owner.ID, store.Page[gateway.UserID]{Limit: listed})
		}),
		missing("member", func(ctx context.Context) error { _, err := x.MemberByID(ctx, x.owner.ID, stranger); return err }),
		done("set role", func(ctx context.Context, tx store.Tx) error {
			_, err := tx.SetRole(ctx, x.owner.ID, actor, stranger, gateway.RoleViewer)
			return refused(err)
		}),
		done("remove member", func(ctx context.Context, tx store.Tx) error {
			return refused(tx.RemoveMember(ctx, x.owner.ID, actor, stranger))
		}),
		inTx("end somebody's invitations", func(ctx context.Context, tx store.Tx) ([]gateway.InvitationID, error) {
			return tx.EndInvitationsOf(ctx, x.owner.ID, actor)
		}),
		done("hand over", func(ctx context.Context, tx store.Tx) error {
			return refused(tx.HandOver(ctx, x.owner.ID, stranger, gateway.UserID(x.b.clock.NewID())))
		}),
		x.withUser("invite a member, who joins", func(ctx context.Context, tx store.Tx, user store.User) error {
			if err := tx.InviteMember(ctx, x.owner.ID, actor, store.Invitation{ID: invitation, Role: gateway.RoleViewer}, [32]byte{1}, time.Hour); err != nil {
				return err
			}
			if _, err := tx.RenewInvitation(ctx, x.owner.ID, actor, invitation, [32]byte{2}, time.Hour); err != nil {
				return err
			}
			_, _, err := tx.Join(ctx, [32]byte{2}, user.ID, user.Email)
			return errors.Join(err, stateChanged(tx.RevokeInvitation(ctx, x.owner.ID, actor, invitation)))
		}),
		missing("any invitation", func(ctx context.Context) error { _, err := x.InvitationByHash(ctx, [32]byte{}); return err }),
		missing("invitation of an account", func(ctx context.Context) error {
			_, err := x.MemberInvitation(ctx, x.owner.ID, invitation)
			return err
		}),
		only("invitations of an account", func(ctx context.Context) ([]store.Invitation, error) {
			return x.MemberInvitations(ctx, x.owner.ID, store.Page[gateway.InvitationID]{Limit: listed})
		}),
	}
}

// closing is how an account ends.
func (x *explained) closing() []call {
	nobody, day := gateway.AccountID(x.b.clock.NewID()), x.now.AddDate(0, 0, -1) // a day of the history
	actor := gateway.Actor(gateway.UserID(x.b.clock.NewID()).String())
	return []call{
		missing("lend an address", func(ctx context.Context) error { return x.LendAddress(ctx, nobody, lent, time.Minute) }),
		only("lent address", func(ctx context.Context) (netip.AddrPort, error) { return x.LentAddress(ctx, x.owner.ID) }),
		done("close an account", func(ctx context.Context, tx store.Tx) error {
			_, err := tx.CloseAccount(ctx, x.owner.ID, actor, time.Hour)
			return ownerNeeded(err)
		}),
		x.withUser("close an account, and restore it", func(ctx context.Context, tx store.Tx, user store.User) error {
			by := gateway.Actor(user.ID.String())
			if err := tx.AddMember(ctx, x.owner.ID, user.ID, gateway.RoleOwner); err != nil {
				return err
			}
			_, closeErr := tx.CloseAccount(ctx, x.owner.ID, by, time.Hour)
			return errors.Join(closeErr, tx.RestoreAccount(ctx, x.owner.ID, by), stateChanged(tx.RestoreAccount(ctx, x.owner.ID, by)))
		}),
		inTx("members' addresses", func(ctx context.Context, tx store.Tx) ([]string, error) { return tx.MemberAddresses(ctx, x.owner.ID) }),
		inTx("addresses without two-step log-in", func(ctx context.Context, tx store.Tx) ([]string, error) {
			return tx.AddressesWithoutTwoStep(ctx, x.owner.ID)
		}),
		done("stop accounts", func(ctx context.Context, _ store.Tx) error { return x.StopClosing(ctx) }),
		only("leaving accounts", func(ctx context.Context) ([]store.LeavingAccount, error) { return x.LeavingAccounts(ctx, listed) }),
		x.withUser("take an account away", func(ctx context.Context, tx store.Tx, user store.User) error {
			by := gateway.Actor(user.ID.String())
			if err := tx.AddMember(ctx, x.owner.ID, user.ID, gateway.RoleOwner); err != nil {
				return err
			}
			_, closeErr := tx.CloseAccount(ctx, x.owner.ID, by, -time.Hour)
			_, takeErr := tx.TakeAway(ctx, x.owner.ID)
			_, noteErr := tx.CloseEmptied(ctx, x.owner.ID)
			return errors.Join(closeErr, takeErr, noteErr)
		}),
		done("empty a day of an account", func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.EmptyDay(ctx, nobody, day, store.DayEnds{}, listed)
			return err
		}),
		done("empty the tables of an account", func(ctx context.Context, _ store.Tx) error {
			for table := range store.AccountTables {
				if _, err := x.EmptyTable(ctx, nobody, table, listed); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// ownerNeeded is nil for the error that says so.
func ownerNeeded(err error) error {
	if errors.Is(err, gateway.ErrOwnerNeeded) {
		return nil
	}
	return errors.Join(errors.New("it was not refused"), err)
}

// stateChanged is nil for the error that says so.
func stateChanged(err error) error {
	if errors.Is(err, gateway.ErrStateChanged) {
		return nil
	}
	return errors.Join(errors.New("it was not refused"), err)
}

func (x *explained) sessions() []call {
	stranger, session := gateway.UserID(x.b.clock.NewID()), gateway.SessionID(x.b.clock.NewID())
	return []call{
		x.withUser("create session", func(ctx context.Context, tx store.Tx, user store.User) error {
			_, err := tx.CreateSession(ctx, store.NewSession{ID: session, User: user.ID, Idle: time.Hour, Longest: time.Hour})
			return err
		}),
		missing("session", func(ctx context.Context) error { _, err := x.SessionByHash(ctx, [32]byte{}); return err }),
		done("touch session", func(ctx context.Context, _ store.Tx) error {
			_, _, _, err := x.TouchSession(ctx, session, time.Minute)
			return err
		}),
		only("sessions", func(ctx context.Context) ([]store.Session, error) { return x.Sessions(ctx, stranger) }),
		done("end session", func(ctx context.Context, tx store.Tx) error {
			return wantMissing(tx.EndSession(ctx, stranger, session))
		}),
		done("end session by token", func(ctx context.Context, tx store.Tx) error { return tx.EndSessionByHash(ctx, [32]byte{}) }),
		inTx("end sessions", func(ctx context.Context, tx store.Tx) (int64, error) { return tx.EndSessions(ctx, stranger, session) }),
		missing("set flash", func(ctx context.Context) error { return x.SetFlash(ctx, stranger, session, store.Flash{}) }),
		only("take flash", func(ctx context.Context) ([]byte, error) { return x.TakeFlash(ctx, stranger, session, "/") }),
		done("prune sessions", func(ctx context.Context, _ store.Tx) error { return x.PruneSessions(ctx) }),
	}
}

func (x *explained) comingIn() []call {
	invitation := gateway.InvitationID(x.b.clock.NewID())
	return []call{
		only("has owner", x.HasOwner),
		inTx("owns the instance", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.OwnsInstance(ctx, gateway.UserID(x.b.clock.NewID()))
		}),
		only("create set-up token", func(ctx context.Context) (bool, error) { return x.CreateSetupToken(ctx, [32]byte{}) }),
		done("set-up token", func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.SetupTokenOpen(ctx, [32]byte{})
			return err
		}),
		inTx("use set-up token", func(ctx context.Context, tx store.Tx) (bool, error) { return tx.UseSetupToken(ctx, [32]byte{}) }),
		done("end set-up tokens", func(ctx context.Context, tx store.Tx) error { return tx.EndSetupTokens(ctx) }),
		done("prune set-up tokens", func(ctx context.Context, _ store.Tx) error { return x.PruneSetupTokens(ctx) }),
		x.withUser("invite", func(ctx context.Context, tx store.Tx, user store.User) error {
			if _, err := tx.ClaimInstance(ctx, user.ID); err != nil {
				return err
			}
			err := tx.CreateInvitation(ctx, store.Invitation{ID: invitation, CreatedBy: &user.ID}, [32]byte{1}, time.Hour)
			if err != nil {
				return err
			}
			_, err = tx.UseInvitation(ctx, [32]byte{1}, user.ID, user.Email)
			return err
		}),
		missing("invitation", func(ctx context.Context) error { _, err := x.OpenInvitation(ctx, [32]byte{}); return err }),
		done("end invitation", func(ctx context.Context, tx store.Tx) error { return wantMissing(tx.EndInvitation(ctx, invitation)) }),
		only("invitations", func(ctx context.Context) ([]store.Invitation, error) {
			return x.Invitations(ctx, store.Page[gateway.InvitationID]{Limit: listed})
		}),
	}
}

func (x *explained) passwords() []call {
	try := store.Try{Subject: [32]byte{1}, Address: "192.0.2.1", Most: 1, Window: time.Hour}
	return []call{
		done("reserve a try", func(ctx context.Context, tx store.Tx) error {
			err := tx.ReserveTry(ctx, try)
			if _, full := errors.AsType[*store.TryLimitError](tx.ReserveTry(ctx, try)); err == nil && !full {
				err = errors.New("a second try was counted")
			}
			return err
		}),
		done("forgive tries", func(ctx context.Context, tx store.Tx) error {
			return errors.Join(tx.ReturnTry(ctx, try.Subject, ""), tx.KeepTry(ctx, try.Subject, try.Address), tx.ForgiveTries(ctx, try.Subject, try.Address), tx.ForgiveAllTries(ctx, try.Subject))
		}),
		done("prune tries", func(ctx context.Context, _ store.Tx) error { return x.PruneTries(ctx) }),
		only("log-in", func(ctx context.Context) (store.Login, error) { return x.LoginByEmail(ctx, "nobody@example.com") }),
		x.withUser("passwords", func(ctx context.Context, tx store.Tx, user store.User) error {
			if err := tx.CreatePasswordReset(ctx, user.ID, [32]byte{1}, time.Hour); err != nil {
				return err
			}
			if _, err := tx.UsePasswordReset(ctx, [32]byte{1}); err != nil {
				return err
			}
			_, setErr := tx.SetPassword(ctx, user.ID, "", "x")
			_, resetErr := tx.ResetPassword(ctx, user.ID, "y")
			return errors.Join(setErr, resetErr, tx.EndPasswordResets(ctx, user.ID))
		}),
		only("password reset", func(ctx context.Context) (bool, error) { return x.PasswordResetOpen(ctx, [32]byte{}) }),
		done("prune password resets", func(ctx context.Context, _ store.Tx) error { return x.PrunePasswordResets(ctx) }),
	}
}

func (x *explained) twoStep() []call {
	stranger := gateway.UserID(x.b.clock.NewID())
	return []call{
		missing("two-step log-in", func(ctx context.Context) error { _, err := x.TwoStep(ctx, stranger); return err }),
		missing("key of codes", func(ctx context.Context) error { _, err := x.StepKey(ctx, stranger); return err }),
		x.withUser("two-step log-in on and off", func(ctx context.Context, tx store.Tx, user store.User) error {
			beginErr := granted(tx.BeginTwoStep(ctx, user.ID, "key"))
			_, onErr := tx.TurnTwoStepOn(ctx, user.ID, store.StepKey{}, 1)
			_, _, stepErr := tx.UseStep(ctx, user.ID, store.StepKey{}, 2)
			_, codesErr := tx.ReplaceRecoveryCodes(ctx, user.ID, [][32]byte{{1}})
			_, _, _, codeErr := tx.UseRecoveryCode(ctx, user.ID, [32]byte{1})
			_, offErr := tx.TurnTwoStepOff(ctx, user.ID)
			_, requireErr := tx.RequireTwoStep(ctx, x.owner.ID, user.ID, true)
			return errors.Join(beginErr, onErr, stepErr, codesErr, codeErr, offErr, requireErr)
		}),
		x.withUser("half log-ins", func(ctx context.Context, tx store.Tx, user store.User) error {
			_, err := tx.CreateHalfLogin(ctx, store.NewHalfLogin{User: user.ID, Lives: time.Hour})
			if useErr := tx.UseHalfLogin(ctx, [32]byte{}, user.ID); !errors.Is(useErr, gateway.ErrNotFound) {
				return errors.Join(errors.New("there was one"), useErr)
			}
			return errors.Join(err, tx.EndHalfLogins(ctx, user.ID))
		}),
		missing("half log-in", func(ctx context.Context) error { _, err := x.HalfLogin(ctx, [32]byte{}); return err }),
		done("prune half log-ins", func(ctx context.Context, _ store.Tx) error { return x.PruneHalfLogins(ctx) }),
	}
}

func (x *explained) emails() []call {
	return []call{
		x.withUser("change an address", func(ctx context.Context, tx store.Tx, user store.User) error {
			_, askErr := tx.AskEmailChange(ctx, user.ID, "other@example.com", [32]byte{1}, time.Hour)
			_, changeErr := tx.ChangeEmail(ctx, user.ID, [32]byte{1})
			return errors.Join(askErr, changeErr, tx.EndEmailChange(ctx, user.ID))
		}),
		missing("change of an address", func(ctx context.Context) error {
			_, err := x.EmailChange(ctx, gateway.UserID(x.b.clock.NewID()), [32]byte{})
			return err
		}),
		done("prune changes of addresses", func(ctx context.Context, _ store.Tx) error { return x.PruneEmailChanges(ctx) }),
	}
}

func (x *explained) mails() []call {
	id := gateway.MailID(x.b.clock.NewID())
	return []call{
		done("add mail", func(ctx context.Context, tx store.Tx) error {
			return tx.AddMail(ctx, store.Mail{ID: id, To: "a@example.com", Subject: "s", Body: "b"}, true)
		}),
		inTx("late mails", func(ctx context.Context, tx store.Tx) ([]gateway.MailID, error) {
			return tx.LateMails(ctx, time.Hour, 1)
		}),
		missing("take mail", func(ctx context.Context) error { _, err := x.TakeMail(ctx, id, nil); return err }),
		done("mail due", func(ctx context.Context, tx store.Tx) error {
			if err := tx.MailDue(ctx, id, true); !errors.Is(err, gateway.ErrNotFound) {
				return errors.Join(errors.New("something was due"), err)
			}
			return nil
		}),
		missing("mail by id", func(ctx context.Context) error { _, err := x.MailByID(ctx, id); return err }),
		done("mail sent", func(ctx context.Context, _ store.Tx) error { return x.MailSent(ctx, id) }),
		done("mail failed", func(ctx context.Context, _ store.Tx) error { return x.MailFailed(ctx, id, "why", true) }),
		only("mails", func(ctx context.Context) ([]store.Mail, error) {
			return x.Mails(ctx, store.Page[gateway.MailID]{Limit: listed})
		}),
		done("prune mails", func(ctx context.Context, _ store.Tx) error { return x.PruneMails(ctx, time.Hour, time.Hour) }),
	}
}

func (x *explained) keys() []call {
	key := gateway.APIKey{ID: gateway.KeyID(x.b.clock.NewID()), Name: "k"}
	return []call{
		done("a new API key and its end", func(ctx context.Context, tx store.Tx) error {
			if err := tx.CreateAPIKey(ctx, x.owner.ID, key, [32]byte{1}); err != nil {
				return err
			}
			for range 2 {
				if _, err := tx.EndAPIKey(ctx, x.owner.ID, key.ID); err != nil {
					return err
				}
			}
			return nil
		}),
		missing("one API key", func(ctx context.Context) error {
			_, err := x.APIKey(ctx, x.owner.ID, gateway.KeyID(x.b.clock.NewID()))
			return err
		}),
		only("API keys", func(ctx context.Context) ([]gateway.APIKey, error) {
			return x.APIKeys(ctx, x.owner.ID, store.Page[gateway.KeyID]{Limit: listed})
		}),
	}
}
