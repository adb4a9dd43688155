package embedded

import (
	"context"
	"time"
)

// watch notices the end of a process that is nobody's child here.
type watch struct {
	done   chan struct{} // closed when the process has ended
	ended  chan struct{} // closed when the goroutine has ended
	forget context.CancelFunc
}

// watchProcess looks at the process once a second until it ends or stop is
// called.
func watchProcess(pid int) *watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{done: make(chan struct{}), ended: make(chan struct{}), forget: cancel}
	go w.run(ctx, pid)
	return w
}

func (w *watch) run(ctx context.Context, pid int) {
	defer close(w.ended)
	tick := time.NewTicker(guestPoll)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	close(w.done)
}

// stop ends the watch and waits for its goroutine.
func (w *watch) stop() {
	w.forget()
	<-w.ended
}
