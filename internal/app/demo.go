package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// lendFor is how long the demo's account may reach its receiver after the demo was
	// there last, lendEvery how often that is said.
	lendFor, lendEvery = 30 * time.Second, 10 * time.Second
	// startWithin bounds how long a server may take until it is ready: with the
	// embedded database it may have to make one first.
	startWithin = 2 * time.Minute
	// lookEvery is how often it is looked whether it is.
	lookEvery = 100 * time.Millisecond
	// demoName is what the account is called, demoPerson its owner.
	demoName, demoPerson = "Harbor Coffee (demo)", "Demo"
)

// DemoOptions are what a demo needs.
type DemoOptions struct {
	Config  config.Config
	Log     *slog.Logger
	Version string
	// Server is the address of the server to use; empty: the one that runs with this
	// configuration, or else one that is run for the demo.
	Server string
	// Email is the address of the account's owner; empty makes one up.
	Email string
	// Receiver is where the demo's receiver listens, 127.0.0.1 and a port.
	Receiver netip.AddrPort
}

// Site is where a demo takes place: a server, and an account on it.
type Site struct {
	// Server is the server's address for programs, Dashboard the account's page for
	// people.
	Server, Dashboard string
	// Key has all scopes.
	Key string
	// Email and Password log the owner in.
	Email, Password string
	// Own tells that the server runs for the demo alone.
	Own bool
}

// HostDemo makes an account to show the product with, lends it the address of the
// demo's receiver, and calls run, on the server that is named or that runs, or else
// on one that it runs itself meanwhile. The account stays.
func HostDemo(ctx context.Context, o DemoOptions, run func(context.Context, Site) error) error {
	site := Site{Server: o.Server}
	if site.Server == "" {
		site.Server = localAddress(string(o.Config.Listen))
	}
	var err error
	if site.Own, err = needsServer(ctx, site.Server, o.Server != ""); err != nil {
		return err
	}
	return withStore(ctx, o.Config, o.Log, func(s *store.Store) error {
		return besideServer(ctx, o, site, func(ctx context.Context) error {
			id, err := foundDemo(ctx, s, o, &site)
			if err != nil {
				return err
			}
			defer background(context.WithoutCancel(ctx), func(ctx context.Context) { lend(ctx, o, s, id) })()
			return run(ctx, site)
		})
	})
}

// localAddress is how this machine calls what listens at an address.
func localAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "http://" + listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// needsServer tells whether there is no server at an address yet. One that was named
// has to be there.
func needsServer(ctx context.Context, address string, named bool) (bool, error) {
	switch presence, err := client.Look(ctx, address); {
	case err != nil:
		return false, err
	case presence == client.Stranger:
		return false, &advised{
			fmt.Errorf("what answers at %s is not Rowlock", address),
			"Stop it, or choose another port with ROWLOCK_LISTEN and ROWLOCK_BASE_URL; of a server that runs elsewhere, set " + client.ServerVariable + ".",
		}
	case presence == client.Nobody && named:
		return false, &advised{
			fmt.Errorf("no server answers at %s", address),
			"Start it with `rowlock serve`, or unset " + client.ServerVariable + ": then the demo runs a server of its own.",
		}
	default:
		return presence == client.Nobody, nil
	}
}

// errServerEnded ends a demo whose server ended.
var errServerEnded = errors.New("the demo's server ended")

// besideServer calls run while a server runs: the site's, or one of its own.
func besideServer(ctx context.Context, o DemoOptions, site Site, run func(context.Context) error) error {
	if !site.Own {
		if err := awaitServer(ctx, site.Server); err != nil {
			return err
		}
		return run(ctx)
	}
	running, ended := context.WithCancelCause(ctx)
	var served error
	stop := background(context.WithoutCancel(ctx), func(serving context.Context) {
		served = Serve(serving, ServeOptions{
			Config: o.Config, Roles: Roles{Web: true, API: true, Ingest: true, Worker: true},
			Log: o.Log, Version: o.Version, Stdout: io.Discard,
		})
		ended(errServerEnded)
	})
	err := awaitServer(running, site.Server)
	if err == nil {
		err = run(running)
	}
	stop()
	if served != nil {
		return served // what came of it matters less
	}
	return err
}

// awaitServer waits until a server is ready.
func awaitServer(ctx context.Context, address string) error {
	over, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		presence, err := client.Look(over, address)
		if err != nil || presence == client.Ready {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-over.Done():
			return &advised{fmt.Errorf("the server at %s is not ready", address), "GET " + address + "/readyz names what is missing; its log says why."}
		}
	}
}

// foundDemo makes the account, and completes the site.
func foundDemo(ctx context.Context, s *store.Store, o DemoOptions, site *Site) (gateway.AccountID, error) {
	now := clock.New()
	if err := observe(ctx, s, now); err != nil {
		return gateway.AccountID{}, err
	}
	accounts := account.NewService(account.Options{Store: s, Clock: now, Signup: o.Config.Signup, BaseURL: string(o.Config.BaseURL), SMTP: o.Config.SMTPURL != ""})
	site.Email, site.Password = o.Email, strings.ToLower(rand.Text()[:16])
	if site.Email == "" {
		site.Email = "demo-" + strings.ToLower(rand.Text()[:6]) + "@example.com"
	}
	made, err := accounts.Create(ctx, account.New{Name: demoName, Email: site.Email, Person: demoPerson, Password: site.Password})
	if err != nil {
		return made.AccountID, accountError(err, "demo")
	}
	site.Key = made.APIKey
	a, err := s.Account(ctx, made.AccountID)
	if err != nil {
		return made.AccountID, err
	}
	site.Dashboard = strings.TrimSuffix(string(o.Config.BaseURL), "/") + "/a/" + a.Slug
	return made.AccountID, s.LendAddress(ctx, made.AccountID, o.Receiver, lendFor)
}

// lend keeps the receiver's address lent until ctx ends, and then takes it back.
func lend(ctx context.Context, o DemoOptions, s *store.Store, id gateway.AccountID) {
	ticker := time.NewTicker(lendEvery)
	defer ticker.Stop()
	during := lendFor
	for during > 0 {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			during = 0
		}
		writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), lendEvery)
		if err := s.LendAddress(writing, id, o.Receiver, during); err != nil {
			o.Log.Warn("lending the receiver's address", "error", err)
		}
		cancel()
	}
}
