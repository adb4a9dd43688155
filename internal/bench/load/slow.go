package load

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// slow is an endpoint that takes its time.
type slow struct {
	url    string
	server *http.Server
	served sync.WaitGroup
}

// slowFor is how long each of its answers takes.
const slowFor = 5 * time.Second

func newSlow(ctx context.Context) (*slow, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for deliveries: %w", err)
	}
	s := &slow{url: "http://" + l.Addr().String()}
	s.server = &http.Server{ReadHeaderTimeout: answerWithin, Handler: http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		timer := time.NewTimer(slowFor)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-q.Context().Done():
		}
	})}
	s.served.Go(func() { _ = s.server.Serve(l) }) // until it is closed
	return s, nil
}

func (s *slow) close() error {
	err := s.server.Close()
	s.served.Wait()
	return err
}
