package endpoint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
)

// sends is the value of the Authorization header that an endpoint gets.
func (b bundle) sends(t *testing.T, id gateway.EndpointID) string {
	t.Helper()
	target, err := b.store.EndpointTarget(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return target.Auth.Header
}

func TestAuth(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _, err := b.Create(t.Context(), b.account, actor, endpoint.Input{
		URL: new("https://example.com"), Auth: &endpoint.Auth{Type: gateway.AuthBasic, Username: "Aladdin", Password: "open sesame"},
	})
	if err != nil || e.Auth != gateway.AuthBasic {
		t.Fatalf("%q, %v", e.Auth, err)
	}
	if got := b.sends(t, e.ID); got != "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==" {
		t.Errorf("sends %q", got)
	}
	change := func(in endpoint.Input, kind gateway.AuthKind, sends string) {
		t.Helper()
		e, err := b.Update(t.Context(), b.account, actor, e.ID, in)
		if err != nil || e.Auth != kind || b.sends(t, e.ID) != sends {
			t.Errorf("%q, %v, sends %q; want %q, %q", e.Auth, err, b.sends(t, e.ID), kind, sends)
		}
	}
	change(endpoint.Input{Description: new("x")}, gateway.AuthBasic, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
	change(endpoint.Input{Auth: &endpoint.Auth{Type: gateway.AuthBearer, Token: "t"}}, gateway.AuthBearer, "Bearer t")
	change(endpoint.Input{Auth: &endpoint.Auth{}}, gateway.AuthNone, "")
	b.wantAudit(t, "endpoint.create", "endpoint.update: description", "endpoint.update: auth", "endpoint.update: auth")
}

// Authorization is sent once, whichever of the two ways comes later.
func TestAuthAndItsHeaderExclude(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	auth := &endpoint.Auth{Type: gateway.AuthBearer, Token: "t"}
	header := &map[string]string{"aUTHORIZATION": "x"}
	for _, step := range []struct {
		in    endpoint.Input
		wrong string
	}{
		{endpoint.Input{Headers: header}, ""},
		{endpoint.Input{Auth: auth}, "auth"},
		{endpoint.Input{Auth: &endpoint.Auth{}}, ""},
		{endpoint.Input{Auth: auth, Headers: &map[string]string{}}, ""},
		{endpoint.Input{Headers: header}, "headers.aUTHORIZATION"},
		{endpoint.Input{Headers: header, Auth: &endpoint.Auth{}}, ""},
	} {
		var want []string
		if step.wrong != "" {
			want = []string{step.wrong}
		}
		_, err := b.Update(t.Context(), b.account, actor, e.ID, step.in)
		if diff := cmp.Diff(want, fields(err)); diff != "" {
			t.Errorf("%+v: %v %s", step.in, err, diff)
		}
	}
}
