package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// channelTimeout bounds one post to a channel.
const channelTimeout = 15 * time.Second

// Channel is where an account is told besides by mail.
type Channel = store.AlertChannel

// Channel reads an account's channel; none is gateway.ErrNotFound.
func (s *Service) Channel(ctx context.Context, account gateway.AccountID) (Channel, error) {
	return s.store.AlertChannel(ctx, account)
}

// SetChannel gives an account a channel that is told of these kinds. An empty
// address keeps the one that it has. Errors: gateway.InvalidErrors, joined, of
// "url" and "kinds".
func (s *Service) SetChannel(ctx context.Context, account gateway.AccountID, actor gateway.Actor, address string, kinds []gateway.AlertKind) error {
	host, urlErr := s.channelHost(address)
	kinds, kindsErr := knownKinds(kinds)
	if err := errors.Join(urlErr, kindsErr); err != nil {
		return err
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		changed, err := tx.SetAlertChannel(ctx, account, s.clock.NewID(), address, host, kinds)
		if errors.Is(err, gateway.ErrNotFound) {
			return gateway.Invalid("url", "is missing")
		}
		if err != nil || !changed {
			return err
		}
		names := make([]string, len(kinds))
		for i, kind := range kinds {
			names[i] = string(kind)
		}
		detail := strings.TrimSpace(host + " " + strings.Join(names, ", "))
		return tx.Audit(ctx, account, actor, "alerts.channel_set", account.String(), detail, s.clock.NewID())
	})
}

// channelHost is the host of an address that messages may be posted to.
func (s *Service) channelHost(address string) (string, error) {
	if address == "" {
		return "", nil
	}
	if err := egress.Invalid("url", s.egress.CheckURL(address)); err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", gateway.Invalid("url", "is not a URL")
	}
	return u.Host, nil
}

// knownKinds are kinds in the order in which they are shown, each once.
func knownKinds(kinds []gateway.AlertKind) ([]gateway.AlertKind, error) {
	known := []gateway.AlertKind{}
	for _, kind := range gateway.AlertKinds {
		if slices.Contains(kinds, kind) {
			known = append(known, kind)
		}
	}
	for _, kind := range kinds {
		if !slices.Contains(known, kind) {
			return nil, gateway.Invalid("kinds", "want kinds of news that there are")
		}
	}
	if len(known) == 0 {
		return nil, gateway.Invalid("kinds", "want at least one")
	}
	return known, nil
}

// RemoveChannel takes an account's channel away, and what waits for it.
func (s *Service) RemoveChannel(ctx context.Context, account gateway.AccountID, actor gateway.Actor) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.RemoveAlertChannel(ctx, account); err != nil {
			return err
		}
		return tx.Audit(ctx, account, actor, "alerts.channel_remove", account.String(), "", s.clock.NewID())
	})
}

// TestChannel posts a message to an account's channel now. It returns why the
// channel did not take it; empty: it did. An account without one is
// gateway.ErrNotFound.
func (s *Service) TestChannel(ctx context.Context, account gateway.Account, actor gateway.Actor) (refused string, err error) {
	l := letter{"Rowlock can post here", fmt.Sprintf("This is a test for the account %s. Nothing has happened.", oneLine(account.Name, longestName))}
	err = s.toChannel(ctx, account.ID, l)
	if answer, ok := errors.AsType[*channelError](err); ok {
		refused = answer.Error()
	} else if err != nil {
		return "", err
	}
	return refused, s.store.InTx(ctx, func(tx store.Tx) error {
		return tx.Audit(ctx, account.ID, actor, "alerts.channel_test", account.ID.String(), cmp.Or(refused, "taken"), s.clock.NewID())
	})
}

// toChannel posts a letter to an account's channel. The error is a *channelError
// where the channel did not take it.
func (s *Service) toChannel(ctx context.Context, account gateway.AccountID, l letter) error {
	address, err := s.store.AlertChannelURL(ctx, account)
	if errors.Is(err, gateway.ErrNotFound) {
		return err
	}
	if err != nil {
		return fmt.Errorf("read the channel: %w", err)
	}
	body, err := json.Marshal(map[string]string{"text": chatText(l)})
	if err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {s.agent}}
	result := s.egress.Send(ctx, egress.Request{URL: address, Header: header, Body: body, Timeout: channelTimeout})
	switch {
	case result.Cancelled:
		return context.Cause(ctx)
	case result.Outcome == gateway.OutcomeSucceeded:
		return nil
	}
	return &channelError{status: result.Status, detail: result.Detail}
}

// chatText is a letter as it stands in a chat: the subject in bold, with what
// has a meaning in Slack's texts written so that it has none. See
// https://api.slack.com/reference/surfaces/formatting.
func chatText(l letter) string {
	plain := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	return "*" + plain.Replace(strings.ReplaceAll(l.subject, "*", "∗")) + "*\n\n" + plain.Replace(l.body)
}

// channelError is how a channel did not take a message. It names no address.
type channelError struct {
	status int
	detail string
}

// Error says what was answered.
func (e *channelError) Error() string {
	if e.status != 0 {
		return strings.TrimSpace(fmt.Sprintf("answered %d %s", e.status, http.StatusText(e.status)))
	}
	return e.detail
}

// final tells that another try would be answered alike.
func (e *channelError) final() bool {
	return e.status/100 == 3 || e.status/100 == 4 && e.status != http.StatusRequestTimeout && e.status != http.StatusTooManyRequests
}
