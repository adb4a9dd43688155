package accept

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// PublishInput is what an application says of its event.
type PublishInput struct {
	Type    string
	Subject *string
	// Key is the idempotency key; nil for none.
	Key []byte
	// Data is the JSON value, byte for byte as sent.
	Data       []byte
	OccurredAt *time.Time
}

// Published is what an application is told.
type Published struct {
	// ID is the event's, or the first one's for a repeat.
	ID        gateway.EventID
	Type      string
	Duplicate bool
	CreatedAt time.Time
}

// PublishResult is what became of one event of a batch.
type PublishResult struct {
	Published

	Err error
}

// Publish takes one event. Its errors are *gateway.InvalidError,
// gateway.ErrKeyReused, *RateLimitedError, gateway.ErrOverloaded and
// gateway.ErrUnavailable; nothing was stored then but, for a key that came
// again with another content, a trace of the request.
func (s *Service) Publish(ctx context.Context, account gateway.AccountID, key gateway.APIKey, in PublishInput) (Published, error) {
	results := s.PublishBatch(ctx, account, key, []PublishInput{in})
	return results[0].Published, results[0].Err
}

// PublishBatch takes several events, each by itself, and returns what became
// of each, in their order.
func (s *Service) PublishBatch(ctx context.Context, account gateway.AccountID, key gateway.APIKey, in []PublishInput) []PublishResult {
	results := make([]PublishResult, len(in))
	source, err := s.sources.api(ctx, account)
	if err != nil {
		for i := range results {
			results[i].Err = err
		}
		return results
	}
	waits := make([]*waiting, len(in))
	for i := range in {
		waits[i], results[i].Err = s.prepare(ctx, account, key, source, in[i])
	}
	s.await(ctx, waits, results)
	return results
}

// prepare checks one event and gives it its id.
func (s *Service) prepare(ctx context.Context, account gateway.AccountID, key gateway.APIKey, source gateway.SourceID, in PublishInput) (*waiting, error) {
	if err := checkInput(in); err != nil {
		return nil, err
	}
	if err := s.checkType(ctx, account, source, in); err != nil {
		return nil, err
	}
	if err := s.limits.publish(ctx, account, key, len(in.Data)); err != nil {
		return nil, err
	}
	body := gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: in.Data}
	return newWaiting(arrival{
		event: gateway.Event{
			ID: gateway.EventID(s.clock.NewID()), AccountID: account, SourceID: source, Status: gateway.EventAccepted,
			Type: in.Type, Subject: in.Subject, Key: in.Key, OccurredAt: in.OccurredAt, Span: gateway.SpanFrom(ctx),
		},
		body: body,
	}), nil
}

// await submits what was prepared. A batch may be longer than the queue is
// free: as many wait at once as one group commit takes. Of several with one
// key, each waits for the one before it, so that the first is the event and the
// others are its repeats.
func (s *Service) await(ctx context.Context, waits []*waiting, results []PublishResult) {
	var all sync.WaitGroup
	free := make(chan struct{}, maxBatch)
	last := map[string]<-chan struct{}{}
	for i, w := range waits {
		if w == nil {
			continue
		}
		free <- struct{}{}
		before, done := last[string(w.parts[0].event.Key)], make(chan struct{})
		if w.parts[0].event.Key != nil {
			last[string(w.parts[0].event.Key)] = done
		}
		all.Go(func() {
			defer func() { close(done); <-free }()
			if before != nil {
				<-before // it ends with ctx at the latest
			}
			results[i] = s.publishOne(ctx, w)
		})
	}
	all.Wait()
}

func (s *Service) publishOne(ctx context.Context, w *waiting) PublishResult {
	if err := s.commits.submit(ctx, w); err != nil {
		return PublishResult{Err: err}
	}
	id, duplicate, err := w.outcome()
	return PublishResult{
		Published: Published{ID: id, Type: w.parts[0].event.Type, Duplicate: duplicate, CreatedAt: id.Time()},
		Err:       err,
	}
}

const (
	// maxKeyLength bounds an idempotency key that is given to the API.
	maxKeyLength = gateway.MaxKeyLength
	// maxSubjectLength keeps a subject within what an index can hold.
	maxSubjectLength = gateway.MaxSubjectLength
)

func checkInput(in PublishInput) error {
	if err := gateway.CheckPublishedType(in.Type); err != nil {
		return err
	}
	if in.Key != nil {
		if err := checkText("key", in.Key, maxKeyLength); err != nil {
			return err
		}
	}
	if in.Subject != nil {
		if err := checkText("subject", []byte(*in.Subject), maxSubjectLength); err != nil {
			return err
		}
	}
	if len(in.Data) == 0 {
		return gateway.Invalid("data", "is required: any JSON value")
	}
	return nil
}

func checkText(field string, text []byte, limit int) error {
	switch {
	case len(text) == 0 || len(text) > limit:
		return gateway.Invalid(field, "want 1 to %d bytes", limit)
	case bytes.IndexByte(text, 0) >= 0:
		return gateway.Invalid(field, "must not contain a NUL character")
	case !utf8.Valid(text):
		return gateway.Invalid(field, "must be valid UTF-8")
	}
	return nil
}

// IsTemporary tells whether a refused event may be sent again as it is.
func IsTemporary(err error) bool {
	return errors.Is(err, gateway.ErrOverloaded) || errors.Is(err, gateway.ErrUnavailable) || errors.Is(err, gateway.ErrRateLimited)
}
