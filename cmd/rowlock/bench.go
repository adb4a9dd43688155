package main

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/bench/load"
	"github.com/rowlock/rowlock/internal/client"
)

// benchFlags are what bench is asked for.
type benchFlags struct {
	load.Options
	json bool
}

func newBench(p program) *cobra.Command {
	var flags benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a running server against the floor",
		Long: `Measure a running server from outside: how soon it keeps events, how soon they are at
one endpoint and at ten, how long one takes at a steady pace, and that beside an
endpoint that does not answer in time. The endpoints are this program's, and are
deleted at the end; the events stay. In the same run it measures what no server could
do without (HTTP exchanges alone; with --database, commits alone), and prints each
figure's ratio to that.

The server must be allowed to deliver to this machine: start it with
ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8. The account must have no limit of events a second.

Environment:
  ROWLOCK_SERVER   address of the server (default ` + client.DefaultServer + `)
  ROWLOCK_API_KEY  an API key with the scopes publish, read and manage (required)`,
		Example: `  rowlock bench
  rowlock bench --metrics http://127.0.0.1:9090/metrics --database postgres://localhost/rowlock
  rowlock bench --events 100000 --grow --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench(cmd, p, flags)
		},
	}
	cmd.Flags().IntVar(&flags.Events, "events", load.UsualEvents, "how many events a burst has")
	cmd.Flags().IntVar(&flags.BodySize, "size", load.UsualBodySize, "size of an event's data in bytes")
	cmd.Flags().IntSliceVar(&flags.Connections, "connections", load.UsualConnections(), "over how many connections at once; the last is what most is measured with")
	cmd.Flags().DurationVar(&flags.Steady, "steady", load.UsualSteady, "for how long events come at a steady pace")
	cmd.Flags().BoolVar(&flags.Grow, "grow", false, "measure how the cost grows with endpoints and sizes, too (minutes)")
	cmd.Flags().StringSliceVar(&flags.Metrics, "metrics", nil, "addresses of the /metrics of all nodes, for processor time and memory")
	cmd.Flags().StringVar(&flags.Database, "database", "", "address of the server's database, for its side and the floor of commits")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print JSON")
	return cmd
}

func bench(cmd *cobra.Command, p program, flags benchFlags) error {
	server, key, err := client.Settings(p.environ)
	if err != nil {
		return usageIf[*client.SettingError](err)
	}
	flags.Server, flags.Key = server, key
	flags.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	report, err := load.Run(cmd.Context(), flags.Options)
	if err != nil {
		return usageIf[*load.OptionError](err)
	}
	if !flags.json {
		return report.Print(cmd.OutOrStdout())
	}
	encoder := json.NewEncoder(cmd.OutOrStdout())
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}
