package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/secret"
)

// key makes a master key of one repeated byte.
func key(b byte) secret.MasterKey {
	return secret.MasterKey(bytes.Repeat([]byte{b}, secret.MasterKeyLen))
}

func TestParseMasterKey(t *testing.T) {
	t.Parallel()
	want := key(0xa5)
	good := want.Reveal()
	for _, text := range []string{good, good + "\n", " " + strings.TrimRight(good, "=") + " "} {
		if got, err := secret.ParseMasterKey(text); err != nil || got != want {
			t.Errorf("ParseMasterKey(%q) = another key, %v", text, err)
		}
	}
	long := base64.StdEncoding.EncodeToString(make([]byte, 33))
	for _, text := range []string{"", "hunter2", long, good[1:], strings.Repeat("a5", 32), strings.Repeat("_", 43) + "="} {
		_, err := secret.ParseMasterKey(text)
		if !errors.Is(err, secret.ErrMasterKey) {
			t.Errorf("ParseMasterKey(%q) = %v, want ErrMasterKey", text, err)
		}
		if text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats %q", text)
		}
	}
}

func FuzzParseMasterKey(f *testing.F) {
	f.Add(key(1).Reveal())
	f.Add("")
	f.Add(strings.Repeat("=", 44))
	f.Fuzz(func(t *testing.T, text string) {
		k, err := secret.ParseMasterKey(text)
		if err != nil {
			return
		}
		if again, err := secret.ParseMasterKey(k.Reveal()); err != nil || again != k {
			t.Errorf("%q does not round trip: %v", text, err)
		}
	})
}

func TestMasterKeyIsNeverPrinted(t *testing.T) {
	t.Parallel()
	holder := struct {
		Key  secret.MasterKey
		Keys []secret.MasterKey
		Ptr  *secret.MasterKey
	}{Key: key(0xa5), Keys: []secret.MasterKey{key(0xa5)}}
	holder.Ptr = &holder.Key
	asJSON, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "key", holder.Key, "holder", holder)
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "key", holder.Key, "holder", holder)

	printed := []string{string(asJSON), logged.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%o"} {
		printed = append(printed, fmt.Sprintf(verb, holder.Key), fmt.Sprintf(verb, &holder.Key), fmt.Sprintf(verb, holder.Keys))
	}
	for _, text := range printed {
		lower := strings.ToLower(text)
		for _, leak := range []string{"a5a5", "165", "0xa5", "paw", "10100101", "245", "\xa5"} {
			if strings.Contains(lower, leak) {
				t.Errorf("the key shows in %q", text)
			}
		}
		if !strings.Contains(text, "[redacted]") {
			t.Errorf("%q does not say that it is redacted", text)
		}
	}
}
