// Command rowlock is the webhook gateway: the server, and the commands to set
// it up, to check it and to try it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // for TZ where the machine has no time zones, as in the image
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default holds again: a second one ends the
	// process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, program{
		args:    os.Args[1:],
		environ: os.Environ(),
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
	}))
}
