package account

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// noteLocked notes that a log-in was tried while it is locked, and returns the
// error that says so. The first try of a lock is noted by itself; how many more
// there were is one entry once it is over. So whoever goes on trying fills no log:
// there are no more locks than passwords that are compared.
func (s *Service) noteLocked(ctx context.Context, who refuser, locked *LockedError) error {
	now := s.clock.Now()
	until := locked.Until
	if least := now.Add(refusalWindow); until.Before(least) { // it is the database's time
		until = least
	}
	first, err := s.countRefusal(ctx, refusalCount{who: who, until: until, most: 1}, now)
	if err == nil && first {
		err = s.writeLocked(ctx, who, ActionLoginRefused, "locked after too many wrong tries")
	}
	if err != nil {
		return err
	}
	return locked
}

// writeLocked writes into every account of a person what concerns a log-in of
// theirs that is locked. It writes, too, where there is no such person, as
// refuseLogin does.
func (s *Service) writeLocked(ctx context.Context, who refuser, action, detail string) error {
	line := s.line(detail)
	line.Refused = true
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.KeepTry(ctx, who.subject, ""); err != nil {
			return err
		}
		return tx.AuditPerson(ctx, who.user, gateway.Actor(who.user.String()), action, line)
	})
}
