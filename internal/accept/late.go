package accept

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// maxReason bounds why a request is accepted that is not proven, in characters.
const maxReason = 500

// Check tells whether AcceptLate would take a refused request without an
// override: nil, or the error that it would return. It changes nothing.
func (s *Service) Check(ctx context.Context, account gateway.AccountID, source gateway.SourceID, request gateway.RequestID) error {
	late, err := s.late(ctx, account, source, request)
	if err != nil {
		return err
	}
	_, doubt, err := late.judge()
	if err == nil && doubt != nil {
		return doubt
	}
	return err
}

// AcceptLate takes a refused request in after all: its source's present secrets
// prove it, whatever the time that it was signed at; or an override gives the
// reason why it is taken unproven, or although it may be a replay. Its events
// are of now. Errors: gateway.ErrNotFound; gateway.ErrNoEvent;
// gateway.ErrAlreadyAccepted; gateway.ErrRequestCut; gateway.InvalidError for
// the reason; and *signature.Refusal for what is in doubt, and not overridden.
func (s *Service) AcceptLate(ctx context.Context, account gateway.AccountID, actor gateway.Actor, source gateway.SourceID, request gateway.RequestID, override string) (Receipt, error) {
	override = strings.TrimSpace(override)
	if utf8.RuneCountInString(override) > maxReason || !utf8.ValidString(override) || strings.ContainsRune(override, 0) {
		return Receipt{}, gateway.Invalid("override", "want a reason of at most %d characters", maxReason)
	}
	late, err := s.late(ctx, account, source, request)
	if err != nil {
		return Receipt{}, err
	}
	verified, doubt, err := late.judge()
	switch {
	case err != nil:
		return Receipt{}, err
	case doubt == nil:
		override = "" // nothing is overridden
	case override == "":
		return Receipt{}, doubt
	}
	return s.acceptLate(ctx, late, verified, actor, override)
}

// late is a refused request at its source.
type late struct {
	reception

	kept gateway.Request
}

// late reads a request as it came.
func (s *Service) late(ctx context.Context, account gateway.AccountID, id gateway.SourceID, request gateway.RequestID) (late, error) {
	source, err := s.store.Source(ctx, account, id)
	if err != nil {
		return late{}, err
	}
	kept, err := s.store.Request(ctx, account, id, request)
	if err != nil {
		return late{}, err
	}
	switch {
	case kept.Cause == gateway.CauseHandshake:
		return late{}, gateway.ErrNoEvent
	case kept.AcceptedAt != nil, kept.Cause == gateway.CauseDuplicate:
		return late{}, gateway.ErrAlreadyAccepted
	case kept.BodySize > len(kept.Body.Data):
		return late{}, gateway.ErrRequestCut
	}
	scheme, ok := signature.Lookup(source.Kind)
	if !ok {
		return late{}, fmt.Errorf("source %s is of kind %q, which this version does not know", source.ID, source.Kind)
	}
	secrets, err := s.store.SourceSecrets(ctx, account, id)
	if err != nil {
		return late{}, err
	}
	chosen, err := settingsOf(source)
	if err != nil {
		return late{}, err
	}
	known := (&cachedSource{source: source, settings: chosen, secrets: secrets, rule: compiled(source)}).at(s.clock.Now())
	in := Incoming{
		Method: kept.Body.Method, Path: string(kept.Body.Path), Query: string(kept.Body.Query),
		Header: gateway.DecodeHeaders(kept.Body.Headers), Body: kept.Body.Data, URL: s.baseURL + gateway.IngestPath + source.Token,
	}
	l := late{reception{source: known, scheme: scheme, in: in}, kept}
	if scheme.Greets(l.request(kept.ID.Time()), known.settings.Scheme) {
		return late{}, gateway.ErrNoEvent
	}
	return l, nil
}

// judge tells which events a request brings, and what is in doubt about them:
// nil when nothing is.
func (l late) judge() (signature.Verified, *signature.Refusal, error) {
	verified, err := l.prove()
	if refusal, ok := errors.AsType[*signature.Refusal](err); ok {
		return signature.Verified{Events: l.scheme.Unproven(l.request(l.kept.ID.Time()), l.source.settings.Scheme)}, refusal, nil
	}
	return verified, l.doubt(verified), err
}

// doubt tells why a request that is proven may be a replay all the same.
func (l late) doubt(verified signature.Verified) *signature.Refusal {
	switch {
	case l.kept.Cause == gateway.CauseReplay:
		return &signature.Refusal{Code: signature.CodeMismatch, Detail: replayDetail}
	case verified.Once != "":
		return &signature.Refusal{Code: signature.CodeMismatch, Detail: onceDetail}
	default:
		return nil
	}
}

// prove judges the request anew. The time is not asked: it was right or wrong
// when the request came, and a person has decided about it since.
func (l late) prove() (signature.Verified, error) {
	chosen := l.source.settings.Scheme
	chosen.Tolerance, chosen.Capturing = signature.AnyTime, false
	request := l.request(l.kept.ID.Time())
	request.Header = l.keptHeader()
	verified, err := l.scheme.Verify(request, chosen, l.source.secrets)
	if err == nil && len(verified.Events) == 0 {
		err = gateway.ErrNoEvent // such as a heartbeat, which nobody waits for
	}
	return verified, l.unkept(err)
}

// keptHeader is what is kept of the header, without what stands in place of
// secrets: it must never be taken for one.
func (l late) keptHeader() http.Header {
	header := l.in.Header.Clone()
	for _, name := range secretHeaders(l.scheme, l.source.settings.Scheme.Raw) {
		if slices.Contains(header.Values(name), gateway.Redacted) {
			header.Del(name)
		}
	}
	return header
}

// unkept explains why a request cannot be proven whose header was the secret
// itself: it was not kept, and neither side is to blame.
func (l late) unkept(err error) error {
	refusal, ok := errors.AsType[*signature.Refusal](err)
	if !ok || !slices.Contains(secretHeaders(l.scheme, l.source.settings.Scheme.Raw), refusal.Header) ||
		!slices.Contains(l.in.Header.Values(refusal.Header), gateway.Redacted) {
		return err
	}
	explained := *refusal
	explained.Detail = "The header " + refusal.Header + " is itself the secret, and is not kept: this request cannot be proven any more."
	return &explained
}

// acceptLate stores the events. The guard stands in the same transaction, and
// before what it guards, so that of two presses at once one has an effect and
// the other is told so. What may come once is remembered, so that it does not
// come again as another event; whether it came before is not asked: a person has
// decided about it.
func (s *Service) acceptLate(ctx context.Context, l late, verified signature.Verified, actor gateway.Actor, reason string) (Receipt, error) {
	account, source := l.source.AccountID, l.source.ID
	w := s.prepareReceived(ctx, l.reception, verified)
	w.traced = true
	if w.raw != nil {
		w.rawID = l.kept.ID
	}
	for i := range w.parts {
		w.parts[i].event.RequestID = &l.kept.ID
	}
	err := s.commits.inTx(ctx, func(tx store.Tx) ([]gateway.EventID, error) {
		if err := claim(ctx, tx, []*waiting{w}); err != nil {
			return nil, err
		}
		taken, err := tx.AcceptRequest(ctx, account, source, l.kept.ID, w.received()[0].ID)
		if err == nil && !taken {
			err = gateway.ErrAlreadyAccepted
		}
		if err != nil {
			return nil, err
		}
		if err := remember(ctx, tx, w); err != nil {
			return nil, err
		}
		won, err := s.commits.insert(ctx, tx, []*waiting{w})
		if err != nil {
			return nil, err
		}
		return won, tx.Audit(ctx, account, actor, "request.accept", l.kept.ID.String(), reason, s.clock.NewID())
	})
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{Events: w.received(), Batch: l.scheme.Info().Batch}, nil
}
