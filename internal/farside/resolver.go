package farside

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// maxQuestion is the longest question that a name server gets, in bytes.
const maxQuestion = 1500

// LookUp tells the addresses of a name, in lower case and without a full stop
// at its end; none for one that does not exist.
type LookUp func(name string) []string

// Names is a resolver that knows these names alone.
func Names(t testing.TB, known map[string]string) *net.Resolver {
	t.Helper()
	return Resolver(t, func(name string) []string {
		if address, ok := known[name]; ok {
			return []string{address}
		}
		return nil
	})
}

// Resolver asks a name server of its own, on a socket of its own, for every
// name.
func Resolver(t testing.TB, lookUp LookUp) *net.Resolver {
	t.Helper()
	var mu sync.Mutex
	return resolverOf(t, func(server net.PacketConn) {
		for {
			question := make([]byte, maxQuestion)
			n, from, err := server.ReadFrom(question)
			if err != nil {
				return
			}
			mu.Lock()
			reply := answerQuestion(question[:n], lookUp)
			mu.Unlock()
			if reply != nil {
				_, _ = server.WriteTo(reply, from)
			}
		}
	})
}

// DeadResolver asks a name server that never answers.
func DeadResolver(t testing.TB) *net.Resolver {
	t.Helper()
	return resolverOf(t, func(net.PacketConn) {})
}

// resolverOf asks this name server. With the test, whoever still waits for it
// is told that it is gone.
func resolverOf(t testing.TB, serve func(net.PacketConn)) *net.Resolver {
	t.Helper()
	server, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { serve(server) })
	asking := &questions{server: server.LocalAddr().String()}
	t.Cleanup(func() {
		_ = server.Close()
		asking.end()
		wg.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: asking.dial}
}

// questions are the sockets from which a resolver asks.
type questions struct {
	server string

	mu    sync.Mutex
	open  []net.Conn
	ended bool
}

func (q *questions) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return nil, net.ErrClosed
	}
	conn, err := new(net.Dialer).DialContext(ctx, "udp", q.server)
	if err == nil {
		q.open = append(q.open, conn)
	}
	return conn, err
}

func (q *questions) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	for _, conn := range q.open {
		_ = conn.Close()
	}
}

// answerQuestion makes the answer to one question; nil to what is none.
func answerQuestion(question []byte, lookUp LookUp) []byte {
	var message dnsmessage.Message
	if err := message.Unpack(question); err != nil || len(message.Questions) != 1 {
		return nil
	}
	message.Response, message.RecursionAvailable, message.Additionals = true, true, nil
	asked := message.Questions[0]
	addresses := lookUp(strings.ToLower(strings.TrimSuffix(asked.Name.String(), ".")))
	if len(addresses) == 0 {
		message.RCode = dnsmessage.RCodeNameError
	}
	for _, address := range addresses {
		if body := record(asked.Type, netip.MustParseAddr(address)); body != nil {
			header := dnsmessage.ResourceHeader{Name: asked.Name, Type: asked.Type, Class: dnsmessage.ClassINET}
			message.Answers = append(message.Answers, dnsmessage.Resource{Header: header, Body: body})
		}
	}
	reply, err := message.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// record is an address as the answer to a question for this type; nil when it
// is of another.
func record(asked dnsmessage.Type, addr netip.Addr) dnsmessage.ResourceBody {
	switch {
	case asked == dnsmessage.TypeA && addr.Is4():
		return &dnsmessage.AResource{A: addr.As4()}
	case asked == dnsmessage.TypeAAAA && addr.Is6():
		return &dnsmessage.AAAAResource{AAAA: addr.As16()}
	}
	return nil
}
