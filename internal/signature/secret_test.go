package signature

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckText(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pasted string
		want   string
		err    error
	}{
		"plain":               {"s3cret", "s3cret", nil},
		"pasted with newline": {"s3cret\r\n", "s3cret", nil},
		"pasted with tabs":    {"\t s3cret \v", "s3cret", nil},
		"no-break space":      {"\u00a0s3cret\u00a0", "s3cret", nil},
		"byte order mark":     {"\ufeffs3cret\u200b", "s3cret", nil},
		"spaces inside":       {" It's a Secret ", "It's a Secret", nil},
		"not ascii":           {"hesloŽ🦄", "hesloŽ🦄", nil},
		"longest":             {strings.Repeat("a", 4096), strings.Repeat("a", 4096), nil},
		"empty":               {"", "", errSecretEmpty},
		"white space":         {" \n\t", "", errSecretEmpty},
		"line break inside":   {"s3c\nret", "", errSecretControl},
		"nul inside":          {"s3c\x00ret", "", errSecretControl},
		"not utf-8":           {"s3c\xffret", "", errSecretUTF8},
		"too long":            {strings.Repeat("a", 4097), "", errSecretLong},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []string{"github", "stripe", "hmac"} {
				scheme, _ := Lookup(kind)
				got, err := scheme.CheckSecret(c.pasted)
				if got != c.want || !errors.Is(err, c.err) {
					t.Errorf("%s: %q, %v; want %q, %v", kind, got, err, c.want, c.err)
				}
			}
		})
	}
}

// TestStripeSecret: the keys on the neighbouring page are not the secret.
func TestStripeSecret(t *testing.T) {
	t.Parallel()
	for pasted, want := range map[string]error{
		"whsec_abc":       nil,
		" whsec_abc\n":    nil,
		"not_from_stripe": nil,
		"sk_test_abc":     errStripeSecret,
		"rk_live_abc":     errStripeSecret,
		" pk_test_abc":    errStripeSecret,
		"we_1abc":         errStripeSecret,
	} {
		if _, err := stripe.CheckSecret(pasted); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", pasted, err, want)
		}
	}
}

func TestParseWebhookKey(t *testing.T) {
	t.Parallel()
	const bare = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	public := publicOf(ed25519A)
	key := func(size int) string { return b64(make([]byte, size)) }
	cases := map[string]struct {
		pasted string
		want   string // canonical
		err    error
	}{
		"canonical":            {keyA, keyA, nil},
		"white space":          {" " + keyA + "\r\n", keyA, nil},
		"no prefix":            {bare, keyA, nil},
		"version before":       {"v1," + keyA, keyA, nil},
		"line break inside":    {keyA[:20] + "\n" + keyA[20:], keyA, nil},
		"no padding":           {"whsec_" + strings.TrimRight(key(32), "="), "whsec_" + key(32), nil},
		"shortest":             {"whsec_" + key(24), "whsec_" + key(24), nil},
		"longest":              {"whsec_" + key(64), "whsec_" + key(64), nil},
		"too short":            {"whsec_" + key(23), "", errKeySize},
		"too long":             {"whsec_" + key(65), "", errKeySize},
		"prefix alone":         {"whsec_", "", errKeySize},
		"empty":                {" ", "", errSecretEmpty},
		"version alone":        {"v1,", "", errSecretEmpty},
		"not base64":           {"whsec_test_secret", "", errKeyBase64},
		"url-safe base64":      {"whsec_" + strings.Repeat("-_", 16), "", errKeyBase64},
		"a sentence":           {"some words, typed", "", errKeyBase64},
		"public":               {public, public, nil},
		"public, version":      {"v1a," + public, public, nil},
		"public, no padding":   {strings.TrimRight(public, "="), public, nil},
		"public too short":     {"whpk_" + key(31), "", errPublicSize},
		"public too long":      {"whpk_" + key(33), "", errPublicSize},
		"public not base64":    {"whpk_***", "", errKeyBase64},
		"private":              {SigningKey{private: ed25519A}.Secret(), "", errPrivatePasted},
		"prefix in upper case": {strings.ToUpper(keyA[:6]) + keyA[6:], "", errKeyBase64},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := standardWebhooks.CheckSecret(c.pasted)
			if got != c.want || !errors.Is(err, c.err) {
				t.Fatalf("%q, %v; want %q, %v", got, err, c.want, c.err)
			}
			if err != nil && len(c.pasted) > 6 && strings.Contains(err.Error(), c.pasted[6:]) {
				t.Errorf("the error repeats the secret: %v", err)
			}
			if again, err := standardWebhooks.CheckSecret(got); err == nil && again != got {
				t.Errorf("checked again it becomes %q", again)
			}
		})
	}
}
