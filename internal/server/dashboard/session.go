package dashboard

import (
	"errors"
	"net/http"
	"time"

	"github.com/gorilla/sessions"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// hostPrefix makes browsers refuse the cookie from any other host, and
	// from this one without https.
	hostPrefix = "__Host-"
	// sessionCookie is the cookie's name, after the prefix where there is one.
	sessionCookie = "rowlock_session"

	// tokenValue and accountValue are what a session's values hold: the
	// cookie's token, and the row that it stands for.
	tokenValue   = "token"
	sessionValue = "session"
)

// sessionStore keeps sessions in the database: the cookie holds a random token
// and nothing else, so that whatever is known of a person can change, or end,
// while the cookie stays as it is.
type sessionStore struct {
	accounts *account.Service
	name     string
	options  sessions.Options
}

var _ sessions.Store = (*sessionStore)(nil)

func newSessionStore(accounts *account.Service, secure bool) *sessionStore {
	s := &sessionStore{
		accounts: accounts,
		name:     sessionCookie,
		options:  sessions.Options{Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure},
	}
	if secure {
		s.name = hostPrefix + sessionCookie
	}
	return s
}

// Get returns the request's session, which is looked up once a request.
func (s *sessionStore) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(s, name)
}

// New looks a request's session up. One without a cookie, or with a token that
// is not good any more, gets an empty session.
func (s *sessionStore) New(r *http.Request, name string) (*sessions.Session, error) {
	session := sessions.NewSession(s, name)
	options := s.options
	session.Options = &options
	session.IsNew = true
	cookie, err := r.Cookie(name)
	if err != nil || cookie.Value == "" {
		return session, nil //nolint:nilerr // no cookie is no session, which is no fault
	}
	found, err := s.accounts.Session(r.Context(), cookie.Value)
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		return session, nil
	case err != nil:
		return session, err
	}
	session.IsNew = false
	session.Values[tokenValue], session.Values[sessionValue] = cookie.Value, found
	return session, nil
}

// Save sends the session's token as a cookie. A session without a token takes
// the cookie away.
func (s *sessionStore) Save(_ *http.Request, w http.ResponseWriter, session *sessions.Session) error {
	token, _ := session.Values[tokenValue].(string)
	if token == "" {
		session.Options.MaxAge = -1
	}
	http.SetCookie(w, sessions.NewCookie(session.Name(), token, session.Options))
	return nil
}

// sessionOf returns who is logged in, and the token that shows it.
func (d *Dashboard) sessionOf(r *http.Request) (account.Session, string, error) {
	session, err := d.sessions.Get(r, d.sessions.name)
	if err != nil {
		return account.Session{}, "", err
	}
	found, _ := session.Values[sessionValue].(account.Session)
	token, _ := session.Values[tokenValue].(string)
	return found, token, nil
}

// setSession gives the browser a session's token; an empty one takes it away.
// One to be kept stays when the browser is closed.
func (d *Dashboard) setSession(w http.ResponseWriter, r *http.Request, token string, keep time.Duration) error {
	session, err := d.sessions.Get(r, d.sessions.name)
	if err != nil {
		return err
	}
	session.Values[tokenValue] = token
	session.Options.MaxAge = int(keep / time.Second)
	return session.Save(r, w)
}
