// Package account makes tenants and tells who a caller is: accounts, the
// people in them and how they come in, and their API keys.
package account

import (
	"sync"

	"github.com/alexedwards/argon2id"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/store"
)

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	// Signup is who may sign up once the instance has an owner; empty is
	// nobody.
	Signup config.Signup
	// BaseURL is where links in mails lead to, without a slash at its end.
	BaseURL string
	// SMTP tells that mails are sent. Without it they are kept to be read.
	SMTP bool
	// Passwords is how new passwords are hashed; the zero value is what fits a
	// server. Tests hash cheaply: under the race detector a hash takes a second.
	Passwords argon2id.Params
}

// Service makes accounts, lets people in and authenticates callers.
type Service struct {
	store   *store.Store
	clock   *clock.Clock
	signup  config.Signup
	baseURL string
	smtp    bool
	hasher  hasher

	refusals refusals
	// keys finds the keys of requests.
	keys keyLookup
	// using are the keys of which it is just noted that they are used.
	using sync.Map
}

// NewService makes a Service.
func NewService(o Options) *Service {
	return &Service{
		store: o.Store, clock: o.Clock, signup: o.Signup, baseURL: o.BaseURL, smtp: o.SMTP,
		hasher: newHasher(o.Passwords), keys: keyLookup{ask: o.Store.APIKeysByHash},
	}
}
