package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// The receiver's paths: everything comes to one endpoint, orders to another
// as well.
const (
	everything = "/everything"
	orders     = "/orders"
)

// message is one event that a publisher sends.
type message struct {
	token string
	// body is what must arrive, byte for byte.
	body []byte
	// keyed: it may be sent again, and is one event. order: it goes to both
	// endpoints.
	keyed, order bool
	// id is the event's, once it was acknowledged.
	id string
}

// maxPad is how much longer than its token a body can be, bytes.
const maxPad = 2000

// newMessage makes a message with a token and a body of random length. The
// body has white space and an escape that a careless program would lose.
func newMessage(rng *rand.Rand, r route) *message {
	token := fmt.Sprintf("%016x", rng.Uint64())
	body := fmt.Sprintf(`{ "token":%q,  "amount":12345678901234567890123456789,"pad":"\u0000%s"}`,
		token, strings.Repeat("x", rng.IntN(maxPad)))
	return &message{token: token, body: []byte(body), keyed: r.keyed, order: r.order}
}

// tokenOf reads the token of a received body.
func tokenOf(body []byte) string {
	var m struct{ Token string }
	_ = json.Unmarshal(body, &m) // without a token, nobody sent it
	return m.Token
}

// route is one way in.
type route struct {
	name         string
	keyed, order bool
	// request makes the request for a message at a node's address.
	request func(m *message, base string) (*http.Request, error)
}

// routes are all ways in, of one account with its sources.
func routes(a *account, plain, github source) []route {
	return []route{
		{name: "API, key in the body", keyed: true, order: true, request: func(m *message, base string) (*http.Request, error) {
			return a.publish(base, fmt.Sprintf(`{"type":"order.placed","key":%q,"data":%s}`, m.token, m.body))
		}},
		{name: "API, key in the header", keyed: true, order: true, request: func(m *message, base string) (*http.Request, error) {
			request, err := a.publish(base, fmt.Sprintf(`{"type":"order.paid","data":%s}`, m.body))
			if err == nil {
				request.Header.Set("Idempotency-Key", m.token)
			}
			return request, err
		}},
		{name: "API without a key", order: true, request: func(m *message, base string) (*http.Request, error) {
			return a.publish(base, fmt.Sprintf(`{"type":"order.noted","data":%s}`, m.body))
		}},
		{name: "source without a scheme", request: plain.request},
		{name: "GitHub source", keyed: true, request: github.request},
	}
}

func (a *account) publish(base, body string) (*http.Request, error) {
	request, err := http.NewRequest(http.MethodPost, base+"/api/v1/events", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.Key)
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}

// source is where webhooks come in. One with a secret is GitHub's.
type source struct{ path, secret string }

func (s source) request(m *message, base string) (*http.Request, error) {
	request, err := http.NewRequest(http.MethodPost, base+s.path, strings.NewReader(string(m.body)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.secret != "" {
		signAsGitHub(request, s.secret, m.token, m.body)
	}
	return request, nil
}

// signAsGitHub adds what GitHub sends with a push.
func signAsGitHub(request *http.Request, secret, delivery string, body []byte) {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(body) // a hash takes everything
	request.Header.Set("X-GitHub-Event", "push")
	request.Header.Set("X-GitHub-Delivery", delivery)
	request.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
}
