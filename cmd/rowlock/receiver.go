package main

import (
	"net/http"

	"github.com/spf13/cobra"

	"github.com/rowlock/rowlock/internal/receiver"
)

func newReceiver() *cobra.Command {
	var o receiver.Options
	cmd := &cobra.Command{
		Use:   "receiver",
		Short: "Run an endpoint to try deliveries on",
		Long: `Run an endpoint to try deliveries on: it prints one line for each request, and with
--secret checks the signature and answers 401 when it does not verify. The server
delivers to it when its address is inside ROWLOCK_ALLOW_NETWORKS.`,
		Example: `  rowlock receiver
  rowlock receiver --listen 127.0.0.1:9001 --secret whsec_…
  rowlock receiver --secret whpk_…
  rowlock receiver --fail-rate 0.3 --delay 2s`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			r, err := receiver.New(o)
			if err != nil {
				return &usageError{err}
			}
			return r.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.Listen, "listen", receiver.DefaultListen, "address to listen on")
	cmd.Flags().Float64Var(&o.FailRate, "fail-rate", 0, "share of requests to answer 500, 0 to 1")
	cmd.Flags().DurationVar(&o.Delay, "delay", 0, "wait this long before each answer, for example 2s")
	cmd.Flags().IntVar(&o.Status, "status", http.StatusOK, "status of the other answers")
	cmd.Flags().StringVar(&o.Secret, "secret", "", "the endpoint's secret (whsec_… or whpk_…), to check signatures with")
	return cmd
}
