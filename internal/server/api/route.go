package api

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/access"
	"github.com/rowlock/rowlock/internal/server/problem"
)

const (
	// defaultDeadline bounds one operation's work once the request is there, so
	// that a database that does not answer becomes a 503.
	defaultDeadline = 20 * time.Second
	// maxJSON is the largest body of ours but for published events, in bytes.
	maxJSON = 256 << 10
)

// route is one operation as it is declared.
type route struct {
	method, path string
	// needs is the permission that an API key needs to have, by its scope.
	needs gateway.Permission
	// status is that of a success.
	status int
	// id, tag, summary and about are for the documentation.
	id, tag, summary, about string
	// others are further successes, by status.
	others map[int]string
	// optional tells that the body may be left out.
	optional bool
	// required are fields that the body must have, for the documentation.
	required []string
	// maxBody is the largest body in bytes; zero is maxJSON.
	maxBody int
	// tooLarge says what the limit is, where a number alone would mislead.
	tooLarge string
	// deadline is zero for defaultDeadline.
	deadline time.Duration
}

// operation is the route as the library wants it.
func (r route) operation(a *API) huma.Operation {
	op := huma.Operation{
		Method: r.method, Path: r.path, DefaultStatus: r.status,
		OperationID: r.id, Tags: []string{r.tag}, Summary: r.summary,
		Description: r.description(),
		Security:    []map[string][]string{{securityScheme: {}}},
		Extensions:  map[string]any{"x-scope": string(r.needs.Scope())},
		Middlewares: huma.Middlewares{a.checkQuery, a.authenticate(r)},
		Responses:   map[string]*huma.Response{},
	}
	for status, text := range r.others {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: text}
	}
	return op
}

func (r route) description() string {
	scope := "Needs the scope `" + string(r.needs.Scope()) + "`."
	if r.about == "" {
		return scope
	}
	return r.about + "\n\n" + scope
}

// nothing is the input of an operation without parameters.
type nothing struct{}

// nothingBody is the body of an action that takes none: an empty object is fine.
type nothingBody struct{}

// register adds an operation without a body.
func register[I, O any](a *API, r route, handle func(context.Context, caller, *I) (*O, error)) {
	add(a, r, func(ctx context.Context, c *call, in *I) (*O, error) {
		ctx, cancel := r.limit(ctx)
		defer cancel()
		return handle(ctx, c.caller, in)
	})
}

// registerJSON adds an operation with a JSON body of our own form.
func registerJSON[I, B, O any](a *API, r route, handle func(context.Context, caller, *I, B) (*O, error)) {
	add(a, r, func(ctx context.Context, c *call, in *I) (*O, error) {
		sent, err := readJSON[B](c.request, r)
		if err != nil {
			return nil, err
		}
		ctx, cancel := r.limit(ctx)
		defer cancel()
		return handle(ctx, c.caller, in, sent)
	})
	documentBody[B](a, r)
}

// raw is a request whose body the operation takes apart itself.
type raw struct {
	header http.Header
	body   []byte
}

// registerRaw adds an operation that takes its body apart itself. B is the
// body's form in the documentation.
func registerRaw[B, I, O any](a *API, r route, handle func(context.Context, caller, *I, raw) (*O, error)) {
	add(a, r, func(ctx context.Context, c *call, in *I) (*O, error) {
		sent, err := readBody(c.request, r)
		if err != nil {
			return nil, err
		}
		ctx, cancel := r.limit(ctx)
		defer cancel()
		return handle(ctx, c.caller, in, raw{c.request.Header, sent})
	})
	documentBody[B](a, r)
}

// add puts an operation into router, document and list.
func add[I, O any](a *API, r route, handle func(context.Context, *call, *I) (*O, error)) {
	huma.Register(a.huma, r.operation(a), func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, callOf(ctx), in)
		if err != nil {
			return nil, a.problemOf(ctx, r.id, err)
		}
		return out, nil
	})
	a.routes = append(a.routes, r)
	a.access.Add(access.Route{Method: r.method, Path: Prefix + routerPath.Replace(r.path), For: access.Keys, Needs: r.needs})
	a.documentErrors(r)
}

// routerPath writes a path's parameters as the router does.
var routerPath = strings.NewReplacer("{", ":", "}", "")

// limit bounds the work that begins when the request has arrived.
func (r route) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.deadline == 0 {
		return context.WithTimeout(ctx, defaultDeadline)
	}
	return context.WithTimeout(ctx, r.deadline)
}

// documentBody adds a body to a registered operation's documentation. Were it
// there before, the library would read and judge the body by its own rules.
func documentBody[B any](a *API, r route) {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[B](), true, r.id+"Body")
	if len(r.required) > 0 {
		a.resolve(schema).Required = r.required
	}
	a.documented(r).RequestBody = &huma.RequestBody{
		Required: !r.optional,
		Content:  map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}
}

// documentErrors says that whatever is not a success is a problem, and gives
// the other successes the form of the first.
func (a *API) documentErrors(r route) {
	op := a.documented(r)
	for status := range r.others {
		op.Responses[strconv.Itoa(status)].Content = op.Responses[strconv.Itoa(r.status)].Content
	}
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[problem.Problem](), true, "Problem")
	op.Responses["default"] = &huma.Response{
		Description: "Anything but a success.",
		Content:     map[string]*huma.MediaType{problem.ContentType: {Schema: schema}},
	}
}

// documented finds a route's place in the document.
func (a *API) documented(r route) *huma.Operation {
	item := a.huma.OpenAPI().Paths[r.path]
	switch r.method {
	case http.MethodGet:
		return item.Get
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	default:
		return item.Post
	}
}

// checkQuery refuses queries of which the library would silently take a part:
// one that cannot be decoded, and parameters that come twice.
func (a *API) checkQuery(hc huma.Context, next func(huma.Context)) {
	request := humaecho.Unwrap(hc).Request()
	if err := wholeQuery(request.URL.RawQuery); err != nil {
		a.write(hc, err)
		return
	}
	next(hc)
}

// write answers before an operation has begun.
func (a *API) write(hc huma.Context, err error) {
	p := a.problemOf(hc.Context(), hc.Operation().OperationID, err)
	if err := p.Write(humaecho.Unwrap(hc).Response()); err != nil {
		a.Log.DebugContext(hc.Context(), "answer lost", slog.Any("error", err))
	}
}

// problemOf turns an operation's error into the answer, and logs a fault of
// ours.
func (a *API) problemOf(ctx context.Context, operation string, err error) *problem.Problem {
	p := problem.From(err)
	a.countRefused(operation, p.Code)
	if p.Code != problem.Internal {
		return p
	}
	attrs := []slog.Attr{slog.String("operation", operation), slog.Any("error", err)}
	if call, ok := ctx.Value(callKey{}).(*call); ok {
		attrs = append(attrs, slog.String("account", call.account().String()))
	}
	a.Log.LogAttrs(ctx, slog.LevelError, "operation failed", attrs...)
	return p
}
