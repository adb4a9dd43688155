package rule

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample is an event as tests have it.
var sample = gateway.Content{
	Type: "order.created", Subject: "order_7",
	Source: gateway.Source{UID: new("shop"), Name: "Shop", Kind: "github"},
	Body: gateway.Body{
		Query:   []byte("env=live&tag=a&tag=b&bad=%zz"),
		Headers: []byte("Accept: a\r\nAccept: b\r\nAuthorization: [redacted]\r\nX-Env: live\xff\r\n"),
		Data: []byte(`{"amount":250,"half":12.5,"big":18446744073709551615,"vast":18446744073709551616,"neg":-9223372036854775808,"exp":1e3,"id":"a\u0000b",
		"flag":true,"none":null,"plan":"pro","customer":{"country":"DE","tags":["vip","new"]},"items":[{"sku":"a","n":1},{"sku":"b","n":2}],"a-b":1,"in":2}`),
	},
}

// sent is an event that says only this.
func sent(body string) gateway.Content {
	return gateway.Content{Type: "t", Body: gateway.Body{Data: []byte(body)}}
}

// asked evaluates a filter that must compile.
func asked(t *testing.T, filter string, e gateway.Content) (bool, error) {
	t.Helper()
	f, err := CompileFilter(filter)
	if err != nil {
		t.Fatalf("%s: %v", filter, err)
	}
	return f.Match(t.Context(), NewInput(e))
}

// reason is why a filter has no answer; empty when it has one.
func reason(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	failed, ok := errors.AsType[*EvalError](err)
	if !ok {
		t.Fatalf("%v is no EvalError", err)
	}
	return failed.Reason
}
