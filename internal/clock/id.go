package clock

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"
)

const (
	// fractionBits is how finely an id divides its millisecond: 1/4096, some
	// 244 ns.
	fractionBits = 12
	// randomPool is how many random bytes are drawn at once: enough for 512
	// ids, so that drawing costs next to nothing per id.
	randomPool = 4096
	// randomBytes is how many random bytes one id takes.
	randomBytes = 8

	version7 = 0x7 << 12
	variant  = 0x2 << 62 // RFC 9562
	lowBits  = 1<<62 - 1
)

// ids makes ids that only ever rise.
type ids struct {
	mu     sync.Mutex
	last   uint64 // 48 bits of milliseconds, 12 of fraction; of the newest id
	pool   [randomPool]byte
	unused int // bytes at the end of pool that no id has taken
}

// NewID makes a UUIDv7: milliseconds, the fraction of the millisecond, and 62
// random bits. Each id is greater than all this Clock made before, even when
// its time was set back: then ids go on from the newest one's time.
func (c *Clock) NewID() [16]byte {
	tick := tickOf(c.Now())
	c.ids.mu.Lock()
	defer c.ids.mu.Unlock()
	return c.ids.next(tick)
}

// NewIDs makes n ids in rising order, as NewID does, with nobody else's
// between them.
func (c *Clock) NewIDs(n int) [][16]byte {
	if n <= 0 {
		return nil
	}
	made := make([][16]byte, n)
	tick := tickOf(c.Now())
	c.ids.mu.Lock()
	defer c.ids.mu.Unlock()
	for i := range made {
		made[i] = c.ids.next(tick)
	}
	return made
}

// tickOf returns a time as milliseconds and fraction in one number. Times
// before 1970 cannot be written in an id and count as 1970.
func tickOf(t time.Time) uint64 {
	ns := uint64(max(t.UnixNano(), 0))
	ms, rest := ns/1e6, ns%1e6
	return ms<<fractionBits | rest<<fractionBits/1e6
}

// next makes the id of a tick, or of the first free one after it. The mutex
// is held.
func (g *ids) next(tick uint64) [16]byte {
	g.last = max(tick, g.last+1)
	var id [16]byte
	fraction := g.last & (1<<fractionBits - 1)
	binary.BigEndian.PutUint64(id[:8], g.last>>fractionBits<<16|version7|fraction)
	binary.BigEndian.PutUint64(id[8:], variant|g.random()&lowBits)
	return id
}

// random takes 64 bits from the pool, filling it when it is empty. The system
// never fails to fill it: crypto/rand would end the process first.
func (g *ids) random() uint64 {
	if g.unused < randomBytes {
		_, _ = rand.Read(g.pool[:])
		g.unused = randomPool
	}
	from := randomPool - g.unused
	g.unused -= randomBytes
	bits := binary.BigEndian.Uint64(g.pool[from:])
	clear(g.pool[from : from+randomBytes])
	return bits
}
