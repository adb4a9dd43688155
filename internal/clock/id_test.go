package clock

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"
)

func ascending(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }

// strictlyAscending fails unless each id is greater than the one before.
func strictlyAscending(t *testing.T, made [][16]byte) {
	t.Helper()
	for i := 1; i < len(made); i++ {
		if ascending(made[i-1], made[i]) >= 0 {
			t.Fatalf("id %d, %x, is not greater than %x", i, made[i], made[i-1])
		}
	}
}

func millis(id [16]byte) int64 {
	return int64(binary.BigEndian.Uint64(id[:8]) >> 16)
}

func TestNewIDForm(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.observe(77*time.Hour+123456*time.Nanosecond, 0, 0)
	id, now := f.NewID(), f.Now()
	if got := millis(id); got != now.UnixMilli() {
		t.Errorf("milliseconds = %d, want the corrected %d", got, now.UnixMilli())
	}
	fraction := int(id[6]&0xf)<<8 | int(id[7])
	if want := now.Nanosecond() % 1e6 * 4096 / 1e6; fraction != want {
		t.Errorf("fraction = %d, want %d of 4096", fraction, want)
	}
	if id[6]>>4 != 7 || id[8]>>6 != 2 {
		t.Errorf("version %x, variant %b; want 7 and 10", id[6]>>4, id[8]>>6)
	}
}

func TestNewIDRandomBits(t *testing.T) {
	t.Parallel()
	c := New()
	var ever, always [8]byte
	always = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
	tails := map[[8]byte]bool{}
	for range 2 * randomPool / randomBytes { // the pool is refilled on the way
		id := c.NewID()
		tail := [8]byte(id[8:])
		tails[tail] = true
		for i := range tail {
			ever[i] |= tail[i]
			always[i] &= tail[i]
		}
	}
	if len(tails) != 2*randomPool/randomBytes {
		t.Errorf("%d ids share their random bits", 2*randomPool/randomBytes-len(tails))
	}
	if ever != [8]byte{0xbf, 255, 255, 255, 255, 255, 255, 255} || always != [8]byte{0x80} {
		t.Errorf("bits ever set %x, always set %x: not 62 random ones", ever, always)
	}
}

func TestNewIDsRiseWhileTimeStands(t *testing.T) {
	t.Parallel()
	f := newFake()
	made := f.NewIDs(10_000) // more than a millisecond has ticks
	made = append(made, f.NewID())
	strictlyAscending(t, made)
}

func TestNewIDsRiseWhenTheClockStepsBack(t *testing.T) {
	t.Parallel()
	f := newFake()
	made := f.NewIDs(3)
	f.observe(-6*time.Hour, time.Millisecond, time.Millisecond)
	made = append(made, f.NewIDs(3)...)
	f.now += 7 * time.Hour // caught up
	made = append(made, f.NewID())
	strictlyAscending(t, made)
	if got, want := millis(made[6]), f.Now().UnixMilli(); got != want {
		t.Errorf("after catching up, an id says %d, want %d", got, want)
	}
}

func TestNewIDsCount(t *testing.T) {
	t.Parallel()
	c := New()
	for _, n := range []int{-1, 0, 1, 17} {
		if got := len(c.NewIDs(n)); got != max(n, 0) {
			t.Errorf("NewIDs(%d) made %d", n, got)
		}
	}
}

func TestTickBefore1970(t *testing.T) {
	t.Parallel()
	if got := tickOf(time.Unix(-1, 0)); got != 0 {
		t.Errorf("tick = %d, want 0", got)
	}
}

func TestIDsConcurrently(t *testing.T) {
	t.Parallel()
	const makers, each = 8, 2_000
	c := New()
	var wg sync.WaitGroup
	made := make([][][16]byte, makers)
	for m := range makers {
		wg.Go(func() {
			for len(made[m]) < each {
				made[m] = append(made[m], c.NewID())
				made[m] = append(made[m], c.NewIDs(3)...)
				now := time.Now()
				c.Observe(now, now.Add(time.Millisecond), now.Add(time.Duration(m)*time.Hour))
			}
		})
	}
	wg.Wait()
	for _, own := range made {
		strictlyAscending(t, own)
	}
	all := slices.Concat(made...)
	slices.SortFunc(all, ascending)
	strictlyAscending(t, all) // no id twice
}

func BenchmarkNewID(b *testing.B) {
	c := New()
	b.ReportAllocs()
	for b.Loop() {
		c.NewID()
	}
}

func BenchmarkNewIDs100(b *testing.B) {
	c := New()
	for b.Loop() {
		c.NewIDs(100)
	}
}
