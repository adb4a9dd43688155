package secret_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/secret"
)

// open makes a keyset under a master key and opens it.
func open(t *testing.T, master secret.MasterKey) (s *secret.Sealer, wrapped []byte) {
	t.Helper()
	wrapped, err := secret.NewKeyset(master)
	if err != nil {
		t.Fatal(err)
	}
	s, err = secret.Open(wrapped, master)
	if err != nil {
		t.Fatal(err)
	}
	return s, wrapped
}

func seal(t *testing.T, s *secret.Sealer, plain, context []byte) []byte {
	t.Helper()
	sealed, err := s.Seal(plain, context)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealedSecretOpens(t *testing.T) {
	t.Parallel()
	s, _ := open(t, key(1))
	context := secret.Context("column", [16]byte{1}, [16]byte{2})
	for _, plain := range [][]byte{nil, []byte("whsec_hunter2"), bytes.Repeat([]byte{0}, 64<<10)} {
		sealed := seal(t, s, plain, context)
		if len(plain) > 0 && bytes.Contains(sealed, plain) {
			t.Error("the sealed secret holds the plain one")
		}
		if got, err := s.Unseal(sealed, context); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes come back as %d, %v", len(plain), len(got), err)
		}
		if bytes.Equal(sealed, seal(t, s, plain, context)) {
			t.Error("sealing twice gives the same bytes")
		}
	}
}

func TestSealedSecretOpensNowhereElse(t *testing.T) {
	t.Parallel()
	s, _ := open(t, key(1))
	account, row := [16]byte{1}, [16]byte{2}
	context := secret.Context("endpoint_secrets.secret", account, row)
	sealed := seal(t, s, []byte("whsec_hunter2"), context)

	for name, other := range map[string][]byte{
		"another account":   secret.Context("endpoint_secrets.secret", [16]byte{9}, row),
		"another row":       secret.Context("endpoint_secrets.secret", account, [16]byte{9}),
		"another column":    secret.Context("source_secrets.secret", account, row),
		"ids the other way": secret.Context("endpoint_secrets.secret", row, account),
		"no context":        nil,
	} {
		if _, err := s.Unseal(sealed, other); !errors.Is(err, secret.ErrUnsealable) {
			t.Errorf("%s: err = %v, want ErrUnsealable", name, err)
		}
	}
	stranger, _ := open(t, key(1)) // the same master key, another keyset
	if _, err := stranger.Unseal(sealed, context); !errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("another keyset: err = %v, want ErrUnsealable", err)
	}
}

func TestTamperedSecretDoesNotOpen(t *testing.T) {
	t.Parallel()
	s, _ := open(t, key(1))
	sealed := seal(t, s, []byte("hunter2"), nil)
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := s.Unseal(changed, nil); !errors.Is(err, secret.ErrUnsealable) {
			t.Errorf("byte %d changed: err = %v, want ErrUnsealable", i, err)
		}
		if _, err := s.Unseal(sealed[:i], nil); !errors.Is(err, secret.ErrUnsealable) {
			t.Errorf("cut to %d bytes: err = %v, want ErrUnsealable", i, err)
		}
	}
}

func FuzzUnseal(f *testing.F) {
	wrapped, err := secret.NewKeyset(key(1))
	if err != nil {
		f.Fatal(err)
	}
	s, err := secret.Open(wrapped, key(1))
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := s.Seal([]byte("hunter2"), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed[:20])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, forged []byte) {
		if plain, err := s.Unseal(forged, nil); err == nil {
			t.Errorf("forged bytes open as %q", plain)
		}
	})
}
