package dashboard

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/server/access"
)

// jobsPath is where the queue's own console is.
const jobsPath = "/instance/jobs"

// consolePolicy is what the console may load: its own files, from here. Unlike
// our pages it makes style elements as it runs, so that inline style, and that
// alone, is let through on its path.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// keepConsole lets browsers keep the console's files, whose names change with
// what is in them.
const keepConsole = "private, max-age=31536000, immutable"

// addConsoleRoutes adds the console, for the owner of the instance, like every
// other page of the instance, and its forms from this site alone.
func addConsoleRoutes(r router) {
	if r.d.Jobs == nil {
		return
	}
	for _, path := range []string{jobsPath, jobsPath + "/*"} {
		route := access.Route{Path: path, For: access.InstanceOwner}
		for _, added := range r.echo.Any(path, r.d.wrap(showConsole, guardsOf(route)...)) {
			route.Method = added.Method
			r.d.access.Add(route)
		}
	}
}

func showConsole(v *visit) error {
	header := v.Response().Header()
	header.Set("Content-Security-Policy", consolePolicy)
	if strings.HasPrefix(v.Request().URL.Path, jobsPath+"/assets/") {
		header.Set(echo.HeaderCacheControl, keepConsole)
	}
	if m := v.Request().Method; m != http.MethodGet && m != http.MethodHead {
		if err := v.d.Accounts.NoteConsole(v.ctx(), v.actor(), m+" "+v.Request().URL.Path); err != nil {
			return err
		}
	}
	v.d.Jobs.ServeHTTP(v.Response(), v.Request())
	return nil
}
