package account

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// SavedViews lists a person's views of an account, the oldest first.
func (s *Service) SavedViews(ctx context.Context, account gateway.AccountID, person gateway.UserID) ([]gateway.SavedView, error) {
	return s.store.SavedViews(ctx, account, person)
}

// SaveView keeps what a list is narrowed by under a name, which replaces what had
// the name before. Errors: gateway.InvalidError (name, query);
// gateway.ErrLimitReached when the person has gateway.MaxSavedViews.
func (s *Service) SaveView(ctx context.Context, account gateway.AccountID, person gateway.UserID, name, query string) error {
	name = strings.TrimSpace(name)
	if err := errors.Join(checkViewName(name), checkViewQuery(query)); err != nil {
		return err
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.SaveView(ctx, account, person, gateway.SavedView{Name: name, Query: query}); err != nil {
			return err
		}
		return s.audit(ctx, tx, account, actorOf(person), "view.save", person.String(), name)
	})
}

func checkViewName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > gateway.MaxSavedViewName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return gateway.Invalid("name", "want a name of at most %d characters", gateway.MaxSavedViewName)
	}
	return nil
}

func checkViewQuery(query string) error {
	if _, err := url.ParseQuery(query); err != nil || query == "" || len(query) > gateway.MaxSavedViewQuery {
		return gateway.Invalid("query", "want what a list is narrowed by, in at most %d characters", gateway.MaxSavedViewQuery)
	}
	return nil
}

// DeleteView deletes a person's view. One that is not there is
// gateway.ErrNotFound.
func (s *Service) DeleteView(ctx context.Context, account gateway.AccountID, person gateway.UserID, name string) error {
	if checkViewName(name) != nil {
		return gateway.ErrNotFound
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		deleted, err := tx.DeleteView(ctx, account, person, name)
		if err != nil {
			return err
		}
		if !deleted {
			return gateway.ErrNotFound
		}
		return s.audit(ctx, tx, account, actorOf(person), "view.delete", person.String(), name)
	})
}
