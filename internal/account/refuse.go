package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// refusalsNoted is how many refusals of one member or key are noted one by
	// one in a refusalWindow: more than a person makes by hand. The others are
	// counted, and their number is one entry.
	refusalsNoted = 10
	refusalWindow = time.Minute
	// RefusalsEvery is how often it is looked for numbers to tell.
	RefusalsEvery = refusalWindow
)

// What the audit log calls refusals.
const (
	ActionRefused      = "account.refuse"
	ActionRefusedMore  = "account.refuse_more"
	ActionKeyRefused   = "key.refuse"
	ActionLoginRefused = "login.refuse"

	ActionLoginRefusedMore = "login.refuse_more"
)

// objectInstance is what something was done to that was done to the instance as
// such.
const objectInstance = "instance"

// Refused is something that somebody tried and may not do.
type Refused struct {
	// Account is where; zero is in the pages of the instance.
	Account gateway.AccountID
	// Actor is the member or the key that tried.
	Actor gateway.Actor
	// Method and What are the request's method, and its route within the account
	// or the API.
	Method, What string
	// Object is what the address names, as the client wrote it; often empty.
	Object string
}

// Refuse is where every refusal for want of a permission passes, of pages and of
// the API. It is noted in the audit log.
func (s *Service) Refuse(ctx context.Context, r Refused) error {
	what := r.What
	if r.Method != http.MethodPost {
		what = strings.ToLower(r.Method) + " " + what
	}
	object := objectOf(r.Account)
	if isObject(r.Object) {
		object = r.Object
	}
	return s.noteRefusal(ctx, r.Account, r.Actor, ActionRefused, store.AuditLine{Object: object, Detail: what})
}

// forOwners passes an error on. One that says that only an owner may do what was
// tried is noted: roles are compared there by the statement that would do it.
func (s *Service) forOwners(ctx context.Context, err error, account gateway.AccountID, by gateway.Actor, action, object string) error {
	if errors.Is(err, gateway.ErrOwnerNeeded) {
		noted := s.noteRefusal(ctx, account, by, ActionRefused, store.AuditLine{Object: object, Detail: action + " for owners"})
		return cmp.Or(noted, err)
	}
	return err
}

// isObject tells that what an address names can be an id: what else a client
// wrote there is not kept.
func isObject(text string) bool {
	kind, _, _ := strings.Cut(text, "_")
	return gateway.LooksLikeID(text) && !strings.ContainsFunc(kind, func(r rune) bool { return r < 'a' || r > 'z' })
}

// noteRefusal writes a refusal into the audit log, or counts it where there are
// many. What is refused must cost less than what is done, or a key that may
// nothing could fill the log, and the database with it: so it is counted in this
// process, and nothing is written for it. It is counted by who tried, so that
// nobody hides what somebody else tries behind their own noise. A process that is
// killed forgets the number of at most one window; what began it is noted.
func (s *Service) noteRefusal(ctx context.Context, account gateway.AccountID, actor gateway.Actor, action string, line store.AuditLine) error {
	who, now := refuser{account: account, actor: actor}, s.clock.Now()
	alone, err := s.countRefusal(ctx, refusalCount{who: who, until: now.Add(refusalWindow), most: refusalsNoted}, now)
	if err != nil || !alone {
		return err
	}
	return s.writeRefusal(ctx, who, action, line)
}

// countRefusal counts a refusal in the window that it is given, or in the one
// that goes on, and tells whether it is noted by itself. What the window before
// has left is told.
func (s *Service) countRefusal(ctx context.Context, window refusalCount, now time.Time) (alone bool, err error) {
	window.from = gateway.OriginOf(ctx)
	alone, before := s.refusals.count(window, now)
	if before.unnoted() > 0 {
		err = s.tellUnnoted(ctx, before)
	}
	return alone, err
}

// TellRefusals writes into the audit log how many refusals there were besides
// those that were noted, of windows that are over.
func (s *Service) TellRefusals(ctx context.Context) error { return s.tellRefusals(ctx, s.clock.Now()) }

func (s *Service) tellRefusals(ctx context.Context, now time.Time) error {
	var errs []error
	for _, over := range s.refusals.over(now) {
		errs = append(errs, s.tellUnnoted(ctx, over))
	}
	return errors.Join(errs...)
}

func (s *Service) tellUnnoted(ctx context.Context, c refusalCount) error {
	ctx = gateway.WithOrigin(ctx, c.from)
	if c.who.isLogin() {
		return s.writeLocked(ctx, c.who, ActionLoginRefusedMore, fmt.Sprintf("%d more while it was locked", c.unnoted()))
	}
	return s.writeRefusal(ctx, c.who, ActionRefusedMore, store.AuditLine{
		Object: objectOf(c.who.account), Detail: fmt.Sprintf("%d more within a minute", c.unnoted()),
	})
}

// writeRefusal writes a refusal into the log of the account or, where there is
// none, of the instance.
func (s *Service) writeRefusal(ctx context.Context, who refuser, action string, line store.AuditLine) error {
	line.ID, line.Refused = gateway.AuditID(s.clock.NewID()), true
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if who.account.IsZero() {
			return tx.AuditInstance(ctx, who.actor, action, line)
		}
		return tx.AuditMany(ctx, who.account, who.actor, action, []store.AuditLine{line})
	})
}

// objectOf is what something was done to that was done to an account as such, or
// to the instance.
func objectOf(account gateway.AccountID) string {
	if account.IsZero() {
		return objectInstance
	}
	return account.String()
}

// refuser is who is refused, and where: a member or a key in an account, or
// whoever tries a log-in that is locked.
type refuser struct {
	account gateway.AccountID
	actor   gateway.Actor

	// subject names the log-in in the table of tries, and user is whose it is; zero
	// is nobody's.
	subject [32]byte
	user    gateway.UserID
}

// isLogin tells that it is a log-in.
func (r refuser) isLogin() bool { return r.subject != [32]byte{} }

// refusalCount is how often somebody was refused in a window, and from where
// last.
type refusalCount struct {
	who  refuser
	from gateway.Origin
	// until is when the window ends, which begins with the first refusal.
	until time.Time
	// most is how many of them are noted one by one.
	most, n int
}

// unnoted is how many of them are in no entry yet.
func (c refusalCount) unnoted() int { return max(c.n-c.most, 0) }

// refusals counts those of this process: of members and keys that are known, and
// of log-ins that are locked, each after some passwords that were compared. So
// many there are at the most.
type refusals struct {
	mu sync.Mutex
	of map[refuser]refusalCount
}

// count counts a refusal, in the window that is given unless one goes on. It tells
// whether it is noted by itself, and returns the window before, if that is over.
func (r *refusals) count(window refusalCount, now time.Time) (alone bool, before refusalCount) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, known := r.of[window.who]
	if !known || !now.Before(c.until) {
		before, c = c, window
	}
	c.n++
	c.from = window.from
	if r.of == nil {
		r.of = map[refuser]refusalCount{}
	}
	r.of[c.who] = c
	return c.n <= c.most, before
}

// over forgets the windows that are over, and returns those with something to
// tell.
func (r *refusals) over(now time.Time) (told []refusalCount) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for who, c := range r.of {
		if now.Before(c.until) {
			continue
		}
		delete(r.of, who)
		if c.unnoted() > 0 {
			told = append(told, c)
		}
	}
	return told
}
