package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/rowlock/rowlock/internal/config"
)

// settings reads the environment. A setting that does not parse is bad usage:
// nothing was tried, and trying again cannot help.
func (p program) settings() (config.Config, error) {
	c, err := config.Load(p.environ)
	if err != nil {
		return config.Config{}, &usageError{settingsError(err)}
	}
	return c, nil
}

func settingsError(err error) error {
	return &hinted{err, "`rowlock serve --help` lists every setting with its meaning and default."}
}

// newLogger writes to stderr, in the form and from the level that are set.
func newLogger(w io.Writer, c config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == config.LogJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// settingsHelp lists every setting, as it stands in the help of serve.
func settingsHelp() string {
	var b strings.Builder
	b.WriteString("Settings are environment variables:\n")
	for _, v := range config.Variables() {
		fmt.Fprintf(&b, "\n  %s", v.Name)
		if v.Default != "" {
			fmt.Fprintf(&b, " (default %s)", v.Default)
		}
		fmt.Fprintf(&b, "\n      %s\n", v.Meaning)
	}
	return b.String()
}
