package gateway_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// What is sent, HTTP's own reader understands.
func TestBasicAuth(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("p", gateway.MaxAuthLength-4)
	for _, c := range []struct{ username, password string }{
		{"Aladdin", "open sesame"}, {"user", "a:b:c"}, {"user", ""}, {"", "auth.token"}, {"ünï", "pässwörd ♥"}, {"user", most},
	} {
		auth, err := gateway.NewBasicAuth(c.username, c.password)
		if err != nil || auth.Kind != gateway.AuthBasic {
			t.Errorf("%s: %v, %v", c.username, auth.Kind, err)
		}
		request := http.Request{Header: http.Header{"Authorization": {auth.Header}}}
		if username, password, ok := request.BasicAuth(); !ok || username != c.username || password != c.password {
			t.Errorf("%s:%s became %s:%s", c.username, c.password, username, password)
		}
	}
	auth, err := gateway.NewBasicAuth("Aladdin", "open sesame")
	if want := "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="; err != nil || auth.Header != want { // of RFC 7617
		t.Errorf("%q, want %q", auth.Header, want)
	}
}

func TestBearerAuth(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"mF_9.B5f-4.1JqM", "1|abc~+/==", strings.Repeat("t", gateway.MaxAuthLength)} {
		auth, err := gateway.NewBearerAuth(token)
		if err != nil || auth.Kind != gateway.AuthBearer || auth.Header != "Bearer "+token {
			t.Errorf("%v, %v", auth.Kind, err)
		}
	}
}

func TestAuthIsRefused(t *testing.T) {
	t.Parallel()
	basic := func(username, password string) error { _, err := gateway.NewBasicAuth(username, password); return err }
	bearer := func(token string) error { _, err := gateway.NewBearerAuth(token); return err }
	long := strings.Repeat("hunter2", gateway.MaxAuthLength/7+1)
	for name, c := range map[string]struct {
		err   error
		field string
	}{
		"nothing":                      {basic("", ""), "auth.username"},
		"colon in the user name":       {basic("hunter2:", ""), "auth.username"},
		"line break in the user name":  {basic("hunter2\nX-Evil: 1", "p"), "auth.username"},
		"user name that is not UTF-8":  {basic("hunter2\xff", "p"), "auth.username"},
		"long user name":               {basic(long, ""), "auth.username"},
		"line break in the password":   {basic("u", "hunter2\r\n"), "auth.password"},
		"NUL in the password":          {basic("u", "hunter2\x00"), "auth.password"},
		"C1 control in the password":   {basic("u", "hunter2\u0085"), "auth.password"},
		"long password":                {basic("u", long), "auth.password"},
		"no token":                     {bearer(""), "auth.token"},
		"space in the token":           {bearer("hunter2 hunter2"), "auth.token"},
		"line break behind the token":  {bearer("hunter2\n"), "auth.token"},
		"token that is not ASCII":      {bearer("hunter2é"), "auth.token"},
		"token that is not even UTF-8": {bearer("hunter2\xff"), "auth.token"},
		"DEL in the token":             {bearer("hunter2\x7f"), "auth.token"},
		"long token":                   {bearer(long), "auth.token"},
	} {
		var invalid *gateway.InvalidError
		if !errors.As(c.err, &invalid) || invalid.Field != c.field {
			t.Errorf("%s: %v, want field %s", name, c.err, c.field)
		}
		if strings.Contains(fmt.Sprint(c.err), "hunter2") {
			t.Errorf("%s: the error repeats it", name)
		}
	}
}

func TestAuthDoesNotPrintItself(t *testing.T) {
	t.Parallel()
	auth, err := gateway.NewBearerAuth("hunter2")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "auth", auth)
	inside := struct{ Auth gateway.Auth }{auth}
	for _, text := range []string{fmt.Sprint(auth), fmt.Sprintf("%+v %#v %s %v", auth, auth, auth, &auth), fmt.Sprintf("%+v %#v", inside, inside), log.String()} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "bearer") {
			t.Errorf("printed as %s", text)
		}
	}
	if got := fmt.Sprint(gateway.Auth{}); got != "none" {
		t.Errorf("nothing is printed as %s", got)
	}
}
