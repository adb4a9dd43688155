package account

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// NoteExport writes into the audit log, before somebody takes much out of an
// account at once, what they take: "export.events", and which of them. Without an
// account it is of the instance.
func (s *Service) NoteExport(ctx context.Context, account gateway.AccountID, by gateway.Actor, what, detail string) error {
	action := "export." + what
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if account.IsZero() {
			return s.auditInstance(ctx, tx, by, action, objectInstance, detail)
		}
		return s.audit(ctx, tx, account, by, action, account.String(), detail)
	})
}

// NoteConsole writes into the audit log of the instance what its owner has the
// queue's console do, before it does.
func (s *Service) NoteConsole(ctx context.Context, by gateway.Actor, what string) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		return s.auditInstance(ctx, tx, by, "job.console", objectInstance, what)
	})
}

// exportedAtOnce is how many entries of an export are in memory at once.
const exportedAtOnce = 1000

// AuditFormat is how the audit log is exported.
type AuditFormat string

// The formats of an export.
const (
	AuditCSV    AuditFormat = "csv"
	AuditNDJSON AuditFormat = "ndjson"
)

// MediaType is the format's media type.
func (f AuditFormat) MediaType() string {
	if f == AuditNDJSON {
		return "application/x-ndjson"
	}
	return "text/csv; charset=utf-8"
}

// Known tells that there is such a format.
func (f AuditFormat) Known() bool { return f == AuditCSV || f == AuditNDJSON }

// AuditLine is an entry as it is exported.
type AuditLine struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Actor     string    `json:"actor"`
	ActorName string    `json:"actor_name"`
	Action    string    `json:"action"`
	Object    string    `json:"object"`
	Detail    string    `json:"detail"`
	Outcome   string    `json:"outcome"`
	Address   string    `json:"address"`
	UserAgent string    `json:"user_agent"`
}

// auditHeader names the columns of a CSV as AuditLine names its fields.
var auditHeader = []string{"id", "created_at", "actor", "actor_name", "action", "object", "detail", "outcome", "address", "user_agent"}

func (l AuditLine) cells() []string {
	cells := []string{l.ID, l.CreatedAt.Format(time.RFC3339Nano), l.Actor, l.ActorName, l.Action, l.Object, l.Detail, l.Outcome, l.Address, l.UserAgent}
	for i := range cells {
		cells[i] = gateway.PlainCell(cells[i])
	}
	return cells
}

// AuditOutcome is what came of it, in a word.
func AuditOutcome(e gateway.AuditEntry) string {
	if e.Refused {
		return "refused"
	}
	return "done"
}

// AuditPages reads a page of an audit log.
type AuditPages func(ctx context.Context, page store.Page[gateway.AuditID]) ([]gateway.AuditEntry, error)

// ExportAudit writes entries, newest first, while they are read.
func ExportAudit(ctx context.Context, read AuditPages, page store.Page[gateway.AuditID], format AuditFormat, to io.Writer) error {
	write, flush := auditWriter(format, to)
	page.Limit = exportedAtOnce
	for {
		entries, err := read(ctx, page)
		if err != nil {
			return err
		}
		for _, e := range entries {
			err := write(AuditLine{
				e.ID.String(), e.CreatedAt.UTC(), string(e.Actor), e.ActorName, e.Action, e.Object, e.Detail, AuditOutcome(e), e.Address, e.Agent,
			})
			if err != nil {
				return fmt.Errorf("write audit log: %w", err)
			}
			page.Before = &e.ID
		}
		if err := flush(); err != nil {
			return fmt.Errorf("write audit log: %w", err)
		}
		if len(entries) < exportedAtOnce {
			return nil
		}
	}
}

// auditWriter writes lines in a format, and hands over what was written.
func auditWriter(format AuditFormat, to io.Writer) (write func(AuditLine) error, flush func() error) {
	if format == AuditNDJSON {
		held := bufio.NewWriter(to)
		out := json.NewEncoder(held)
		return func(l AuditLine) error { return out.Encode(l) }, held.Flush
	}
	out := csv.NewWriter(to)
	begun := false
	header := func() error {
		if begun {
			return nil
		}
		begun = true
		return out.Write(auditHeader)
	}
	write = func(l AuditLine) error {
		if err := header(); err != nil {
			return err
		}
		return out.Write(l.cells())
	}
	return write, func() error {
		if err := header(); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	}
}
