package account_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made, err := b.Create(t.Context(), account.New{Name: " Acme, Inc. ", Email: "Ada@Example.com", Person: "Ada", Password: "correct horse"})
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := b.store.Account(t.Context(), made.AccountID)
	if err != nil || tenant.Name != "Acme, Inc." || tenant.Slug != "acme-inc" {
		t.Errorf("account %+v, %v", tenant, err)
	}
	owner := b.text(t, `
		SELECT concat_ws(' ', u.email, u.name, m.role, o.user_id = u.id)
		FROM users u
		JOIN members m ON m.user_id = u.id AND m.account_id = $2
		JOIN instance_owner o ON true
		WHERE u.id = $1`, made.UserID, made.AccountID)
	if owner != "ada@example.com Ada owner t" {
		t.Errorf("owner: %s", owner)
	}
	hash := b.text(t, `SELECT password_hash FROM users`)
	if match, err := argon2id.ComparePasswordAndHash("correct horse", hash); !match || err != nil {
		t.Errorf("the password does not match its hash: %v", err)
	}
	sources, err := b.store.Sources(t.Context(), made.AccountID, store.Page[gateway.SourceID]{Limit: 9})
	if err != nil || len(sources) != 1 || sources[0].Kind != gateway.SourceKindAPI || sources[0].Name != "API" {
		t.Errorf("sources %+v, %v", sources, err)
	}
	if entry := b.text(t, `SELECT concat_ws(' ', actor, action, object) FROM audit_log`); entry != fmt.Sprint(made.UserID, " account.create ", made.AccountID) {
		t.Errorf("audit log: %s", entry)
	}
}

func TestCreatedKeyOpensItsAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second := b.create(t, "A", "a@example.com"), b.create(t, "B", "b@example.com")
	for _, made := range []account.Created{first, second} {
		key, err := b.Authenticate(t.Context(), made.APIKey)
		if err != nil || key.AccountID != made.AccountID || !strings.HasPrefix(made.APIKey, "rk_") || !strings.HasSuffix(made.APIKey, key.Hint) || len(key.Hint) != 4 {
			t.Errorf("key of %s: %+v, %v", made.AccountID, key, err)
		}
		if diff := cmp.Diff(gateway.Scopes, key.Scopes); diff != "" {
			t.Error(diff)
		}
	}
	for _, text := range []string{"", "rk_", first.APIKey + "x", strings.ToUpper(first.APIKey), first.APIKey[:10]} {
		if _, err := b.Authenticate(t.Context(), text); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("another text: %v, want ErrNotFound", err)
		}
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE api_keys SET ends_at = now() WHERE account_id = $1`, first.AccountID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Authenticate(t.Context(), first.APIKey); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an ended key: %v, want ErrNotFound", err)
	}
	if _, err := b.Authenticate(t.Context(), second.APIKey); err != nil {
		t.Errorf("the other key: %v", err)
	}
}

func TestWithoutPasswordNothingMatches(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	if _, err := b.Create(t.Context(), account.New{Name: "A", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	if got := b.text(t, `SELECT name || ' ' || password_hash FROM users`); got != "ada " {
		t.Errorf("user %q, want the address's first part and no hash", got)
	}
	for _, given := range []string{"", password} {
		if err := b.logIn(t, "ada@example.com", given, here); !errors.Is(err, account.ErrWrongCredentials) {
			t.Errorf("log-in with %q: %v, want ErrWrongCredentials", given, err)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, tt := range map[string]struct {
		n     account.New
		field string
	}{
		"no name":          {account.New{Email: "a@b.c"}, "name"},
		"long name":        {account.New{Name: strings.Repeat("ä", 201), Email: "a@b.c"}, "name"},
		"line break":       {account.New{Name: "a\nb", Email: "a@b.c"}, "name"},
		"no email":         {account.New{Name: "n"}, "email"},
		"no at":            {account.New{Name: "n", Email: "example.com"}, "email"},
		"display name":     {account.New{Name: "n", Email: "Ada <a@b.c>"}, "email"},
		"two addresses":    {account.New{Name: "n", Email: "a@b.c, d@e.f"}, "email"},
		"comment":          {account.New{Name: "n", Email: "a@b.c (x)"}, "email"},
		"header injection": {account.New{Name: "n", Email: "a@b.c\r\nBcc: d@e.f"}, "email"},
		"long email":       {account.New{Name: "n", Email: "a@" + strings.Repeat("a", 251) + ".c"}, "email"},
		"long mailbox":     {account.New{Name: "n", Email: strings.Repeat("a", 65) + "@b.c"}, "email"},
		"short password":   {account.New{Name: "n", Email: "a@b.c", Password: "elevenchars"}, "password"},
		"short in letters": {account.New{Name: "n", Email: "a@b.c", Password: "ääääääääääß"}, "password"},
		"long password":    {account.New{Name: "n", Email: "a@b.c", Password: strings.Repeat("x", 1025)}, "password"},
		"person":           {account.New{Name: "n", Email: "a@b.c", Person: "a\x00"}, "person"},
	} {
		_, err := b.Create(t.Context(), tt.n)
		var invalid *gateway.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != tt.field {
			t.Errorf("%s: %v, want field %s", name, err, tt.field)
		}
		if tt.n.Password != "" && strings.Contains(err.Error(), tt.n.Password) {
			t.Errorf("%s: the error repeats the password", name)
		}
	}
}

func TestTakenEmailLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	inputs := []account.New{
		{Name: "A", Email: "ada@example.com"}, {Name: "B", Email: "ADA@example.com"}, {Name: "C", Email: "Ada@Example.COM"},
	}
	errs := b.createAtOnce(t, inputs)
	made := 0
	for _, err := range errs {
		switch {
		case err == nil:
			made++
		case !errors.Is(err, gateway.ErrEmailTaken):
			t.Errorf("error %v, want ErrEmailTaken", err)
		}
	}
	left := b.text(t, `
		SELECT concat_ws(' ',
		       (SELECT count(*) FROM accounts), (SELECT count(*) FROM users), (SELECT count(*) FROM members),
		       (SELECT count(*) FROM api_keys), (SELECT count(*) FROM sources))`)
	if made != 1 || left != "1 1 1 1 1" {
		t.Errorf("%d were made; rows left: %s", made, left)
	}
}

func TestEqualNamesGetTheirOwnSlugs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var inputs []account.New
	for i := range 6 {
		inputs = append(inputs, account.New{Name: "Acme", Email: fmt.Sprintf("u%d@example.com", i)})
	}
	for _, err := range b.createAtOnce(t, inputs) {
		if err != nil {
			t.Error(err)
		}
	}
	got := b.text(t, `
		SELECT concat_ws(' ', count(*) FILTER (WHERE slug = 'acme'), count(*) FILTER (WHERE slug ~ '^acme-[0-9a-z]{8}$'),
		       (SELECT count(*) FROM instance_owner))
		FROM accounts`)
	if got != "1 5 1" {
		t.Errorf("plain slugs, slugs with a suffix, owners of the instance: %s; want 1 5 1", got)
	}
}

// createAtOnce makes accounts side by side.
func (b bundle) createAtOnce(t *testing.T, inputs []account.New) []error {
	t.Helper()
	return atOnce(len(inputs), func(i int) error {
		_, err := b.Create(t.Context(), inputs[i])
		return err
	})
}
