package accept

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
)

// checkType asks what the account has declared of an event's type. A repeat of
// what was taken in before passes whatever its type asks by now: it is no new
// event, and its sender is to be told of the first one.
func (s *Service) checkType(ctx context.Context, account gateway.AccountID, source gateway.SourceID, in PublishInput) error {
	err := s.obeyType(ctx, account, in)
	invalid, ok := errors.AsType[*gateway.InvalidError](err)
	if !ok || invalid == nil || in.Key == nil {
		return err
	}
	known, lookup := s.store.IsKeyKnown(ctx, account, source, sha256.Sum256(in.Key))
	switch {
	case lookup != nil:
		return lookup
	case known:
		return nil
	}
	return err
}

// obeyType refuses an event that breaks what is declared of its type. Nothing
// needs to be declared.
func (s *Service) obeyType(ctx context.Context, account gateway.AccountID, in PublishInput) error {
	declared, ok, err := s.types.declared(ctx, account, in.Type)
	if err != nil || !ok {
		return err
	}
	if declared.SingleFire && in.Subject == nil {
		return gateway.SubjectRequired()
	}
	if !declared.HasSchema {
		return nil
	}
	asked, err := s.types.schema(ctx, account, declared)
	if err != nil || asked == nil {
		return err
	}
	var all []error
	for _, fault := range asked.Check(in.Data) {
		all = append(all, &gateway.InvalidError{Field: "data" + fault.Pointer, Code: gateway.CodeSchemaViolated, Detail: fault.Reason})
	}
	return errors.Join(all...)
}
