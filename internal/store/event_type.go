package store

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const eventTypeFields = `account_id, name, description, schema, examples, single_fire, on_doubt, version, created_at, updated_at`

func scanEventType(row pgx.CollectableRow) (t gateway.EventType, err error) {
	var examples []byte
	err = row.Scan(&t.AccountID, &t.Name, &t.Description, &t.Schema, &examples, &t.SingleFire, &t.OnDoubt, &t.Version, &t.CreatedAt, &t.UpdatedAt)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(examples, &t.Examples)
}

// eventTypeArgs are the columns that a person chooses, and the key.
func eventTypeArgs(account gateway.AccountID, t gateway.EventType) pgx.NamedArgs {
	return pgx.NamedArgs{
		"account": account, "name": t.Name, "description": t.Description, "schema": t.Schema,
		"examples": jsonArray(t.Examples), "single_fire": t.SingleFire, "on_doubt": string(t.OnDoubt),
	}
}

// jsonArray joins values that are JSON, byte for byte.
func jsonArray(values []json.RawMessage) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// CreateEventType declares a type, and returns it as it is stored. most is how
// many an account may have.
//
// The promise: a name is declared once, which the primary key holds
// (gateway.ErrNameTaken), and an account never has more than it may, also when
// many are declared at once: the account's lock puts declarations one behind the
// other, and the insert counts what the one before has left
// (gateway.ErrLimitReached).
func (t Tx) CreateEventType(ctx context.Context, account gateway.AccountID, declared gateway.EventType, most int) (gateway.EventType, error) {
	if err := t.lockAccount(ctx, account); err != nil {
		return gateway.EventType{}, err
	}
	args := eventTypeArgs(account, declared)
	args["most"] = most
	rows, err := t.tx.Query(ctx, `
		INSERT INTO event_types (account_id, name, description, schema, examples, single_fire, on_doubt)
		SELECT @account, @name, @description, @schema, @examples, @single_fire, @on_doubt
		WHERE (SELECT count(*) FROM event_types WHERE account_id = @account) < @most
		RETURNING `+eventTypeFields, args)
	if err != nil {
		return gateway.EventType{}, wrap("create event type", err)
	}
	made, err := pgx.CollectRows(rows, scanEventType)
	switch {
	case err != nil:
		return gateway.EventType{}, wrap("create event type", err)
	case len(made) == 0:
		return gateway.EventType{}, wrap("create event type", gateway.ErrLimitReached)
	}
	return made[0], nil
}

// UpdateEventType writes what can be changed of a type.
func (t Tx) UpdateEventType(ctx context.Context, account gateway.AccountID, changed gateway.EventType) (gateway.EventType, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE event_types
		SET description = @description, schema = @schema, examples = @examples,
		    single_fire = @single_fire, on_doubt = @on_doubt,
		    version = nextval('event_type_versions'), updated_at = now()
		WHERE account_id = @account
		  AND name = @name
		RETURNING `+eventTypeFields, eventTypeArgs(account, changed))
	return oneEventType("update event type", rows, err)
}

// DeleteEventType takes a declaration away. Events of the type can still come.
//
// The promise: deleted once, by whoever comes first.
func (t Tx) DeleteEventType(ctx context.Context, account gateway.AccountID, name string) error {
	tag, err := t.tx.Exec(ctx, `
		DELETE FROM event_types
		WHERE account_id = $1
		  AND name = $2`, account, name)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("delete event type", err)
}

// LockEventType reads a type and makes its other changes wait until this
// transaction ends.
func (t Tx) LockEventType(ctx context.Context, account gateway.AccountID, name string) (gateway.EventType, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT `+eventTypeFields+`
		FROM event_types
		WHERE account_id = $1
		  AND name = $2
		FOR NO KEY UPDATE`, account, name)
	return oneEventType("lock event type", rows, err)
}

// EventType reads a type that the account declared.
func (s *Store) EventType(ctx context.Context, account gateway.AccountID, name string) (gateway.EventType, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+eventTypeFields+`
		FROM event_types
		WHERE account_id = $1
		  AND name = $2`, account, name)
	return oneEventType("read event type", rows, err)
}

// EventTypes lists an account's declared types by their names, those after one
// name; an empty one is before all.
func (s *Store) EventTypes(ctx context.Context, account gateway.AccountID, after string, limit int) ([]gateway.EventType, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+eventTypeFields+`
		FROM event_types
		WHERE account_id = $1
		  AND name > $2
		ORDER BY name
		LIMIT $3`, account, after, limit)
	if err != nil {
		return nil, wrap("list event types", err)
	}
	types, err := pgx.CollectRows(rows, scanEventType)
	return types, wrap("list event types", err)
}

// DeclaredType is what of a declared type can refuse an event.
type DeclaredType struct {
	Name       string
	Version    int64
	HasSchema  bool
	SingleFire bool
}

// DeclaredTypes reads what there is to obey of an account's types, without the
// schemas: they are large, and rarely another one.
func (s *Store) DeclaredTypes(ctx context.Context, account gateway.AccountID) ([]DeclaredType, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT name, version, schema IS NOT NULL, single_fire
		FROM event_types
		WHERE account_id = $1`, account)
	if err != nil {
		return nil, wrap("read declared types", err)
	}
	types, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DeclaredType])
	return types, wrap("read declared types", err)
}

// SingleFire tells which of the types an account has declared as single-fire,
// and what is to be done when in doubt. The others are not in the map.
func (t Tx) SingleFire(ctx context.Context, account gateway.AccountID, types []string) (map[string]gateway.OnDoubt, error) {
	refs := make([]TypeRef, len(types))
	for i, name := range types {
		refs[i] = TypeRef{AccountID: account, Type: name}
	}
	found, err := t.SingleFireAmong(ctx, refs)
	byName := make(map[string]gateway.OnDoubt, len(found))
	for ref, doubt := range found {
		byName[ref.Type] = doubt
	}
	return byName, err
}

// TypeRef names a type of an account.
type TypeRef struct {
	AccountID gateway.AccountID
	Type      string
}

// SingleFireAmong is SingleFire for types of several accounts.
func (t Tx) SingleFireAmong(ctx context.Context, refs []TypeRef) (map[TypeRef]gateway.OnDoubt, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	accounts, names := make([]gateway.AccountID, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		accounts[i], names[i] = ref.AccountID, ref.Type
	}
	rows, err := t.tx.Query(ctx, `
		SELECT DISTINCT t.account_id, t.name, t.on_doubt
		FROM unnest($1::uuid[], $2::text[]) AS u (account_id, name)
		JOIN event_types t
		  ON t.account_id = u.account_id
		 AND t.name = u.name
		WHERE t.single_fire`, accounts, names)
	if err != nil {
		return nil, wrap("read single-fire types", err)
	}
	found := map[TypeRef]gateway.OnDoubt{}
	var ref TypeRef
	var doubt gateway.OnDoubt
	_, err = pgx.ForEachRow(rows, []any{&ref.AccountID, &ref.Type, &doubt}, func() error {
		found[ref] = doubt
		return nil
	})
	return found, wrap("read single-fire types", err)
}

func oneEventType(doing string, rows pgx.Rows, err error) (gateway.EventType, error) {
	if err != nil {
		return gateway.EventType{}, wrap(doing, err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scanEventType)
	return found, wrap(doing, err)
}
