package api

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/configuration"
)

// importDeadline bounds an import of the largest document. One that is cut off
// is sent again, and goes on.
const importDeadline = 90 * time.Second

// importQuery says how to import.
type importQuery struct {
	DryRun bool `query:"dry_run" doc:"Change nothing, and tell what would become of each object."`
}

// importView is what became of a document.
type importView struct {
	DryRun    bool                   `json:"dry_run" doc:"Nothing was changed: it is what would become of it."`
	Created   int                    `json:"created"`
	Changed   int                    `json:"changed"`
	Unchanged int                    `json:"unchanged"`
	Refused   int                    `json:"refused"`
	Results   []configuration.Result `json:"results" nullable:"false" doc:"In the order of the document: event types, sources, endpoints."`
}

func viewImport(r configuration.Report) importView {
	return importView{
		DryRun: r.DryRun, Created: r.Count(configuration.Created), Changed: r.Count(configuration.Changed),
		Unchanged: r.Count(configuration.Unchanged), Refused: r.Count(configuration.Refused), Results: r.Results,
	}
}

func (a *API) addConfigurationRoutes() {
	register(a, route{
		method: get, path: "/configuration", needs: read, status: 200,
		id: "exportConfiguration", tag: tagConfiguration, summary: "Export the configuration",
		about: "Endpoints, sources with their rules, and event types. Secrets, the values of headers and private settings are left out, and left_out says where. An object without a uid is written with one that is made of its id. Who exports is in the audit log.",
	}, a.exportConfiguration)
	registerRaw[configuration.ConfigurationBody](a, route{
		method: post, path: "/configuration", needs: gateway.PermConfigure, status: 200, maxBody: configuration.MaxBytes, deadline: importDeadline,
		id: "importConfiguration", tag: tagConfiguration, summary: "Import a configuration",
		about: "Makes what is missing and changes what differs, found by uid; what is equal is left alone and nothing is deleted, so a second import changes nothing. Fields that are left out stay as they are. Each object stands alone: one that is refused does not keep the others.",
	}, a.importConfiguration)
}

// configurations reads and writes configurations.
func (a *API) configurations() configuration.Service {
	return configuration.Service{Store: a.Store, Endpoints: a.Endpoints, Sources: a.Sources, EventTypes: a.EventTypes, Accounts: a.Accounts}
}

func (a *API) exportConfiguration(ctx context.Context, who caller, _ *nothing) (*objectReply[configuration.ConfigurationBody], error) {
	doc, err := a.configurations().Export(ctx, who.account(), who.actor())
	return object(doc, err, func(d configuration.ConfigurationBody) configuration.ConfigurationBody { return d })
}

func (a *API) importConfiguration(ctx context.Context, who caller, in *importQuery, sent raw) (*objectReply[importView], error) {
	report, err := a.configurations().Import(ctx, who.account(), who.actor(), sent.body, in.DryRun)
	return object(report, err, viewImport)
}
