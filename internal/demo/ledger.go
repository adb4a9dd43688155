package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/client"
)

const (
	// mailLease is far above what a mail takes; mailTime is that.
	mailLease, mailTime = "30s", 300 * time.Millisecond
	// mailWithin bounds what is done for one mail, whoever still waits for it.
	mailWithin = 15 * time.Second
	// losesEach is how often the answer of a mail that was sent gets lost.
	losesEach = 4
	// invoiceEvery is how often an invoice is made, invoiceTime how long that takes.
	invoiceEvery, invoiceTime = 15 * time.Second, 6 * time.Second
	// crashLease is the lease of the invoicer that dies at its work.
	crashLease = "5s"
)

// claim is one as the API tells it.
type claim struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Fence int64  `json:"fence"`
}

// take claims a key. A claim that is done was done before.
func take(ctx context.Context, api *client.Client, scope, key, lease, holder string) (c claim, err error) {
	err = api.Do(ctx, http.MethodPost, "/claims", map[string]string{"scope": scope, "key": key, "lease": lease, "holder": holder}, &c)
	return c, err
}

// complete says that what was claimed is done.
func (c claim) complete(ctx context.Context, api *client.Client, result map[string]any) error {
	return api.Do(ctx, http.MethodPost, "/claims/"+c.ID+"/complete", map[string]any{"fence": c.Fence, "result": result}, nil)
}

// mails writes a welcome mail for everybody who signs up: once, however often it is
// told of them.
type mails struct {
	mu   sync.Mutex
	api  *client.Client
	sent int
}

func (m *mails) employ(api *client.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.api = api
}

func (m *mails) employer() *client.Client {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.api
}

// answer claims, writes and completes. Now and then what it answers gets lost: the
// next attempt finds that the mail was written.
func (m *mails) answer(q *http.Request, body []byte) int {
	var u struct{ User string }
	api := m.employer()
	if api == nil || json.Unmarshal(body, &u) != nil || u.User == "" {
		return http.StatusServiceUnavailable
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.Context()), mailWithin)
	defer cancel()
	c, err := take(ctx, api, "welcome-mails", u.User, mailLease, "mailer-1")
	switch {
	case err != nil:
		return http.StatusServiceUnavailable
	case c.State == "done":
		return http.StatusOK
	}
	pause(ctx, mailTime)
	n := m.count()
	if c.complete(ctx, api, map[string]any{"message_id": fmt.Sprintf("%d.%s@mail.example.com", n, u.User)}) != nil {
		return http.StatusServiceUnavailable
	}
	if n%losesEach == 0 {
		<-q.Context().Done()
	}
	return http.StatusOK
}

func (m *mails) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent++
	return m.sent
}

// invoice makes invoices until ctx ends, one after the other. A second invoicer has
// died over its first: a person has to see to what it held.
func invoice(ctx context.Context, api *client.Client) {
	month := time.Now().UTC().Format("2006-01")
	_, _ = take(ctx, api, "monthly-invoices", month+"/cus_grace", crashLease, "invoicer-2")
	for n := 1; ctx.Err() == nil; n++ {
		c, err := take(ctx, api, "monthly-invoices", fmt.Sprintf("%s/cus_%d", month, n), "1m", "invoicer-1")
		if err == nil {
			pause(ctx, invoiceTime)
			_ = c.complete(context.WithoutCancel(ctx), api, map[string]any{"invoice": fmt.Sprintf("%s-%04d", month, n)}) // the ledger shows what it makes of it
		}
		pause(ctx, invoiceEvery-invoiceTime)
	}
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
