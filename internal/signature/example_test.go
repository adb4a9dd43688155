package signature_test

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/signature"
)

// What Sign signs, a source of the kind standard_webhooks verifies.
func Example() {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	now := time.Unix(1_614_265_330, 0)
	body := []byte(`{"type":"order.created"}`)

	key, err := signature.ParseSigningKey(secret)
	if err != nil {
		fmt.Println(err)
		return
	}
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", "1614265330")
	header.Set("webhook-signature", signature.Sign([]signature.SigningKey{key}, "evt_1", now.Unix(), body))

	scheme, _ := signature.Lookup("standard_webhooks")
	live := []signature.Secret{{Value: []byte(secret)}}
	request := signature.Request{Header: header, Body: body, Now: now}
	verified, err := scheme.Verify(request, signature.Settings{}, live)
	fmt.Println(verified.Events[0].Key, verified.Events[0].Type, err)

	request.Now = now.Add(10 * time.Minute)
	_, err = scheme.Verify(request, signature.Settings{}, live)
	if refusal, ok := errors.AsType[*signature.Refusal](err); ok {
		fmt.Println(refusal.Code, refusal.Skew)
	}
	// Output:
	// evt_1 order.created <nil>
	// timestamp_out_of_range 10m0s
}
