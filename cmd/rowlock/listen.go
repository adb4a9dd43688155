package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/listener"
)

// listenFlags are what listen is asked for.
type listenFlags struct {
	forwardTo, endpoint string
	types               []string
}

func newListen(p program) *cobra.Command {
	var flags listenFlags
	cmd := &cobra.Command{
		Use:   "listen --forward-to URL",
		Short: "Deliver an account's events to a local program",
		Long: `Deliver an account's events to a program on this machine. No public address is needed:
the command asks the server for what an endpoint of the kind listen gets, forwards it,
signed as to every receiver, and reports how it went. It makes the endpoint where there
is none yet. While nobody listens its deliveries wait, and none is counted as failed.

It prints a line for each delivery: when, the event's type, the delivery, the answer's
status, and how long it took. A lost connection is made again. What the local program has
confirmed is not forwarded a second time.

Environment:
  ROWLOCK_SERVER   address of the server (default ` + client.DefaultServer + `)
  ROWLOCK_API_KEY  an API key with the scope manage (required)`,
		Example: `  rowlock listen --forward-to http://localhost:3000/hooks
  rowlock listen --forward-to http://localhost:3000/hooks --types 'order.*' --types user.created
  rowlock listen --forward-to http://localhost:3000/hooks --endpoint staging-of-jo`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listen(cmd, p, flags)
		},
	}
	cmd.Flags().StringVar(&flags.forwardTo, "forward-to", "", "address of the local program (required)")
	cmd.Flags().StringVar(&flags.endpoint, "endpoint", "", "uid of the endpoint, which is made where there is none; an id names one that is there (default listen-HOSTNAME)")
	cmd.Flags().StringSliceVar(&flags.types, "types", nil, "types of events to get, for example 'order.*' (default: all, or what the endpoint asks for already)")
	return cmd
}

func listen(cmd *cobra.Command, p program, flags listenFlags) error {
	if flags.forwardTo == "" {
		return badUsage("--forward-to is missing: the address of the local program, for example http://localhost:3000/hooks")
	}
	host := hostname()
	if flags.endpoint == "" {
		flags.endpoint = uidOf("listen-" + host)
	}
	c, err := client.FromEnviron(p.environ)
	if err != nil {
		return usageIf[*client.SettingError](err)
	}
	l, err := listener.New(listener.Options{
		Client: c, Endpoint: flags.endpoint, ForwardTo: flags.forwardTo, Host: host, Out: cmd.OutOrStdout(), Notes: cmd.ErrOrStderr(),
	})
	if err != nil {
		return &usageError{err}
	}
	if err := readyEndpoint(cmd, c, host, flags); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "Listening with %s, forwarding to %s. Ctrl-C ends it.\n", flags.endpoint, flags.forwardTo); err != nil {
		return fmt.Errorf("print what is forwarded: %w", err)
	}
	err = l.Run(cmd.Context())
	if n := l.Counts(); err == nil {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "Stopped. Confirmed %d, failed %d.\n", n.Confirmed, n.Failed)
	}
	return err
}

// readyEndpoint makes the endpoint, or has the one that is there ask for what was
// wished.
func readyEndpoint(cmd *cobra.Command, c *client.Client, host string, flags listenFlags) error {
	ctx := cmd.Context()
	if !strings.HasPrefix(flags.endpoint, "ep_") {
		made, err := c.CreateListenEndpoint(ctx, client.NewListenEndpoint{
			UID: flags.endpoint, Description: "rowlock listen on " + host, EventTypes: flags.types,
		})
		if err == nil {
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "Made the endpoint %s. What it gets is signed with this secret, which is shown here once:\n  %s\n", flags.endpoint, made.Secret)
			return err
		}
		if p, ok := errors.AsType[*client.Problem](err); !ok || p.Code != "uid_taken" {
			return err
		}
	}
	if flags.types == nil {
		return nil
	}
	return setTypes(ctx, c, flags)
}

// setTypes has an endpoint that is listened for ask for other types. One with an
// address is left alone: it is somebody's receiver, and to listen for it is refused.
func setTypes(ctx context.Context, c *client.Client, flags listenFlags) error {
	e, err := c.Endpoint(ctx, flags.endpoint)
	if err != nil {
		return fmt.Errorf("look at %s: %w", flags.endpoint, err)
	}
	if e.Kind != client.KindListen {
		return nil
	}
	if err := c.SetEventTypes(ctx, flags.endpoint, flags.types); err != nil {
		return fmt.Errorf("set the types of %s: %w", flags.endpoint, err)
	}
	return nil
}

// hostname is what this machine is called.
func hostname() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "this-machine"
}

// maxUID is how long a uid may be.
const maxUID = 128

// uidOf makes a uid of a text that begins as one.
func uidOf(text string) string {
	uid := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, text)
	return uid[:min(len(uid), maxUID)]
}
