package reconcile

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Format is how a list is written.
type Format string

// The formats of lists.
const (
	FormatCSV Format = "csv"
	// FormatNDJSON is one JSON value a line: an object, or the key alone.
	FormatNDJSON Format = "ndjson"
)

// Layout says where in a list's rows is what.
type Layout struct {
	Format  Format
	MatchBy gateway.MatchBy
	// KeyColumn and TypeColumn are names, or numbers from 1. An empty KeyColumn is
	// the column that is called as one would call it; an empty TypeColumn leaves
	// types out.
	KeyColumn, TypeColumn string
	// NoHeader: the first row of a CSV is one like the others.
	NoHeader bool
}

// Input says what is to be compared.
type Input struct {
	Layout

	Endpoint gateway.EndpointID
	Name     string
	// Since and Until bound when our events came in; a zero Until is now.
	Since, Until time.Time
}

// check tells what is wrong with an input, and completes it.
func (s *Service) check(ctx context.Context, account gateway.AccountID, in *Input) error {
	now := s.Clock.Now().Add(time.Millisecond)
	if in.Until.IsZero() || in.Until.After(now) {
		in.Until = now
	}
	in.Name = strings.TrimSpace(in.Name)
	err := errors.Join(in.checkLayout(), checkTimes(*in), checkName(in.Name))
	if _, lookup := s.Store.Endpoint(ctx, account, in.Endpoint); errors.Is(lookup, gateway.ErrNotFound) {
		err = errors.Join(err, gateway.Invalid("endpoint", "name an endpoint of this account"))
	} else if lookup != nil {
		return lookup
	}
	return err
}

func checkTimes(in Input) error {
	if in.Since.IsZero() {
		return gateway.Invalid("since", "say from when on")
	}
	if !in.Since.Before(in.Until) {
		return gateway.Invalid("until", "want a time after since")
	}
	return nil
}

func checkName(name string) error {
	if len(name) > gateway.MaxReconciliationName || !isText(name) {
		return gateway.Invalid("name", "want at most %d bytes of text", gateway.MaxReconciliationName)
	}
	return nil
}

func (l Layout) checkLayout() error {
	var faults []error
	if !gateway.KnownMatchBy(string(l.MatchBy)) {
		faults = append(faults, gateway.Invalid("match", "want event, key or subject"))
	}
	if l.Format != FormatCSV && l.Format != FormatNDJSON {
		faults = append(faults, gateway.Invalid("format", "want a CSV list, or NDJSON"))
	}
	if !isColumn(l.KeyColumn) {
		faults = append(faults, gateway.Invalid("key_column", "want a column's name or number"))
	}
	if !isColumn(l.TypeColumn) {
		faults = append(faults, gateway.Invalid("type_column", "want a column's name or number"))
	}
	return errors.Join(faults...)
}

// maxColumnName bounds a column's name, in bytes.
const maxColumnName = 200

func isColumn(name string) bool { return len(name) <= maxColumnName && isText(name) }

// isText tells whether the database has room for a text.
func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// made is the reconciliation that an input asks for.
func (in Input) made(id gateway.ReconciliationID, actor gateway.Actor) gateway.Reconciliation {
	return gateway.Reconciliation{
		ID: id, EndpointID: in.Endpoint, Name: in.Name, Since: in.Since, Until: in.Until,
		MatchBy: in.MatchBy, WithType: in.TypeColumn != "", Actor: actor,
	}
}
