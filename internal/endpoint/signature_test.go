package endpoint_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// ed25519Key is a private key of somebody's own, its seed alone, and
// ed25519Public its public half.
const (
	ed25519Key    = "whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk="
	sharedKey     = "whsec_QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD"
	ed25519Prefix = "whpk_"
)

// createSigning makes an endpoint that signs as the version says.
func (b bundle) createSigning(t *testing.T, version gateway.SignatureVersion, secret *string) (gateway.Endpoint, gateway.Secret) {
	t.Helper()
	e, signing, err := b.Create(t.Context(), b.account, actor, endpoint.Input{URL: new("https://example.com"), Signature: &version, Secret: secret})
	if err != nil || e.Signature != version {
		t.Fatalf("%q, %v", e.Signature, err)
	}
	return e, signing
}

// live are the kinds of the live secrets, newest first, as they are stored.
func (b bundle) live(t *testing.T, id gateway.EndpointID) string {
	t.Helper()
	secrets, err := b.store.EndpointSecrets(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, s := range secrets {
		key, err := signature.ParseSigningKey(s.Value)
		if err != nil || key.Public() != s.Public {
			t.Errorf("stored with the public key %q, want %q, %v", s.Public, key.Public(), err)
		}
		kinds = append(kinds, string(key.Version()))
	}
	return strings.Join(kinds, " ")
}

// The private half of a key never leaves.
func TestPrivateKeysAreNotTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, made := b.createSigning(t, gateway.SignatureEd25519, nil)
	rotated, err := b.Rotate(t.Context(), b.account, actor, e.ID, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	revealed, err := b.Secrets(t.Context(), b.account, actor, e.ID)
	if err != nil || len(revealed) != 2 || revealed[0].Public != rotated.Public || revealed[1].Public != made.Public {
		t.Fatalf("revealed %d, %v", len(revealed), err)
	}
	for _, s := range append(revealed, made, rotated) {
		if s.Value != "" || !strings.HasPrefix(s.Public, ed25519Prefix) {
			t.Errorf("told %q, with a private part: %t", s.Public, s.Value != "")
		}
	}
	if got := b.live(t, e.ID); got != "v1a v1a" {
		t.Errorf("live are %s", got)
	}
}

func TestOwnKeys(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, made := b.createSigning(t, gateway.SignatureEd25519, new(ed25519Key))
	if key, err := signature.ParseSigningKey(ed25519Key); err != nil || key.Public() != made.Public {
		t.Errorf("its public key is %q, %v", made.Public, err)
	}
	shared, _ := b.create(t)
	for name, c := range map[string]struct {
		id     gateway.EndpointID
		secret string
		says   string
	}{
		"shared where keys sign":        {e.ID, sharedKey, "whsk_"},
		"private where secrets sign":    {shared.ID, ed25519Key, "v1a"},
		"public where keys sign":        {e.ID, made.Public, "begin"},
		"another version on the making": {gateway.EndpointID{}, ed25519Key, "v1a"},
	} {
		var err error
		if c.id.IsZero() {
			_, _, err = b.Create(t.Context(), b.account, actor, endpoint.Input{URL: new("https://example.com"), Secret: &c.secret})
		} else {
			_, err = b.Rotate(t.Context(), b.account, actor, c.id, nil, &c.secret)
		}
		var invalid *gateway.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "secret" || !strings.Contains(invalid.Detail, c.says) || strings.Contains(invalid.Detail, c.secret[7:]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.Rotate(t.Context(), b.account, actor, e.ID, new(time.Duration(0)), new(ed25519Key)); err != nil {
		t.Error(err)
	}
}

// Another signature rotates: the old secret goes on beside the new one.
func TestChangeOfSignature(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	change := func(ctx context.Context, version gateway.SignatureVersion) error {
		changed, err := b.Update(ctx, b.account, actor, e.ID, endpoint.Input{Signature: &version})
		if err == nil && changed.Signature != version {
			t.Errorf("it is %s, want %s", changed.Signature, version)
		}
		return err
	}
	// However many change it at once, one new secret is made.
	atOnce(t, 5, nil, func(ctx context.Context) error { return change(ctx, gateway.SignatureEd25519) })
	if got := b.live(t, e.ID); got != "v1a v1" {
		t.Errorf("live are %s", got)
	}
	secrets, err := b.store.EndpointSecrets(t.Context(), b.account, e.ID)
	if err != nil || secrets[0].EndsAt != nil || secrets[1].EndsAt == nil {
		t.Fatalf("the new one ends, or the old one does not: %v", err)
	}
	if left := time.Until(*secrets[1].EndsAt); left > gateway.DefaultOverlap || left < gateway.DefaultOverlap-time.Minute {
		t.Errorf("the old one signs for %s more", left)
	}
	if err := change(t.Context(), gateway.SignatureHMAC); err != nil {
		t.Error(err)
	}
	if got := b.live(t, e.ID); got != "v1 v1a v1" {
		t.Errorf("live are %s", got)
	}
	if n := b.audits(t, "endpoint.secret.rotate"); n != 2 {
		t.Errorf("%d rotations are in the audit log, want 2", n)
	}
	if _, err := b.Update(t.Context(), b.account, actor, e.ID, endpoint.Input{Signature: new(gateway.SignatureEd25519), Secret: new(ed25519Key)}); err == nil {
		t.Error("a secret was taken that no rotation brought")
	}
}

// Where no more secrets have room, the signature stays as it is.
func TestChangeOfSignatureWithoutRoom(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	for range gateway.MaxLiveSecrets - 1 {
		if _, err := b.Rotate(t.Context(), b.account, actor, e.ID, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.Update(t.Context(), b.account, actor, e.ID, endpoint.Input{Signature: new(gateway.SignatureEd25519), Description: new("x")})
	if !errors.Is(err, gateway.ErrTooManySecrets) {
		t.Errorf("%v, want ErrTooManySecrets", err)
	}
	if got, err := b.store.Endpoint(t.Context(), b.account, e.ID); err != nil || got.Signature != gateway.SignatureHMAC || got.Description != "" {
		t.Errorf("signs with %s, is described as %q, %v", got.Signature, got.Description, err)
	}
}

// audits counts an action in the audit log.
func (b bundle) audits(t *testing.T, action string) (n int) {
	t.Helper()
	if err := b.pool.QueryRow(t.Context(), `SELECT count(*) FROM audit_log WHERE action = $1`, action).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
