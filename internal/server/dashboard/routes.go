package dashboard

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/access"
	"github.com/rowlock/rowlock/static"
)

const (
	get  = http.MethodGet
	post = http.MethodPost

	// staticPath is where browsers find what static.URL names.
	staticPath = "/static/*"
	// accountRoute is where the routes of an account begin.
	accountRoute = "/a/:" + accountParam
)

// router adds routes with the guards that belong to them.
type router struct {
	echo *echo.Echo
	d    *Dashboard
}

// open is for everybody.
func (r router) open(method, path string, h handler) {
	r.add(access.Route{Method: method, Path: path, For: access.Everybody}, h)
}

// personal is for everybody who is logged in.
func (r router) personal(method, path string, h handler) {
	r.add(access.Route{Method: method, Path: path, For: access.Person}, h)
}

// needs is for those members of the account in the address, under which the
// path is, who have a permission.
func (r router) needs(p gateway.Permission, method, path string, h handler) {
	r.add(access.Route{Method: method, Path: accountRoute + path, For: access.Members, Needs: p}, h)
}

// within is for every member.
func (r router) within(method, path string, h handler) { r.needs(gateway.PermRead, method, path, h) }

// operated is for those members who keep things going.
func (r router) operated(method, path string, h handler) {
	r.needs(gateway.PermOperate, method, path, h)
}

// managed is for those members who may change what there is.
func (r router) managed(method, path string, h handler) {
	r.needs(gateway.PermConfigure, method, path, h)
}

// instance is for the owner of the instance.
func (r router) instance(method, path string, h handler) {
	r.add(access.Route{Method: method, Path: "/instance" + path, For: access.InstanceOwner}, h)
}

// add adds a route with the guards of those who it is for, and notes it.
func (r router) add(route access.Route, h handler) {
	r.d.access.Add(route)
	r.echo.Add(route.Method, route.Path, r.d.wrap(h, guardsOf(route)...))
}

// addRoutes adds every route of the dashboard.
func (d *Dashboard) addRoutes(e *echo.Echo) {
	e.GET(staticPath, echo.WrapHandler(static.Handler()))
	d.access.Add(access.Route{Method: get, Path: staticPath, For: access.Everybody})
	r := router{e, d}
	addEntranceRoutes(r)
	addDocsRoutes(r)
	addOverviewRoutes(r)
	addEventRoutes(r)
	addFailureRoutes(r)
	addSourceRoutes(r)
	addEventTypeRoutes(r)
	addUsageRoutes(r)
	addAuditRoutes(r)
	addFactRoutes(r)
	addRuleRoutes(r)
	addClaimRoutes(r)
	addEndpointRoutes(r)
	addOperationRoutes(r)
	addReconcileRoutes(r)
	addSettingsRoutes(r)
	addMemberRoutes(r)
	addCloseRoutes(r)
	addAccountRoutes(r)
	addPersonRoutes(r)
	addInstanceRoutes(r)
	addKitRoutes(r)
}

func addEntranceRoutes(r router) {
	r.open(get, "/", root)
	r.open(get, "/signup", showSignUp)
	r.open(post, "/signup", signUp)
	r.open(get, "/invite/:token", followInvitation)
	r.open(post, "/invite/:token", join)
	r.open(get, "/login", showLogIn)
	r.open(post, "/login", logIn)
	r.open(get, codePath, showLogInCode)
	r.open(post, codePath, logInWithCode)
	r.open(post, "/logout", logOut)
	r.open(get, "/forgot", showForgot)
	r.open(post, "/forgot", forgot)
	r.open(get, "/reset/:token", showReset)
	r.open(post, "/reset/:token", reset)
}

func addOverviewRoutes(r router) {
	r.within(get, "", showOverview)
	r.within(get, "/stream", stream)
}

func addEventRoutes(r router) {
	r.within(get, "/events", listEvents)
	r.within(get, "/events/export", exportEvents)
	r.operated(get, "/events/redeliver", askRedeliverEvents)
	r.operated(post, "/events/redeliver", redeliverEvents)
	r.within(get, "/events/views/new", askSaveView)
	r.within(post, "/events/views/new", saveView)
	r.within(get, "/events/views/delete", askDeleteView)
	r.within(post, "/events/views/delete", deleteView)
	r.within(get, "/events/:id", showEvent)
	r.within(get, "/events/:id/peek", peekEvent)
	r.within(get, "/events/:id/raw", downloadPayload)
	r.within(get, "/events/:id/request", wholeRequest)
	r.operated(get, "/events/:id/redeliver", askRedeliverEvent)
	r.operated(post, "/events/:id/redeliver", redeliverEvent)
	r.operated(post, "/events/:id/process", processEvent)
	r.managed(get, "/events/:id/payload/delete", askDeletePayload)
	r.managed(post, "/events/:id/payload/delete", deletePayload)
	r.within(get, "/deliveries", listDeliveries)
	r.within(get, "/attempts", listAttempts)
	r.within(get, "/deliveries/:id", showDelivery)
	r.operated(get, "/deliveries/:id/redeliver", askRedeliver)
	r.operated(post, "/deliveries/:id/redeliver", redeliver)
	r.operated(get, "/deliveries/:id/cancel", askCancel)
	r.operated(post, "/deliveries/:id/cancel", cancelDelivery)
	r.operated(post, "/deliveries/:id/sign", signDelivery)
	r.within(get, "/search", searchAccount)
}

func addFailureRoutes(r router) {
	r.within(get, "/failures", showFailures)
	r.within(get, "/failures/:id", showFailed)
	r.operated(get, "/failures/dismiss", askDismiss)
	r.operated(post, "/failures/dismiss", dismissFailures)
	r.operated(post, "/failures/restore", restoreFailures)
}

func addSourceRoutes(r router) {
	r.within(get, "/sources", showSources)
	r.managed(get, "/sources/new", showNewSource)
	r.managed(post, "/sources/new", addSource)
	r.within(get, "/sources/:id", showSource)
	r.within(get, "/sources/:id/requests/:request", showRequest)
	r.managed(get, "/sources/:id/requests/:request/accept", askAcceptRequest)
	r.managed(post, "/sources/:id/requests/:request/accept", acceptRequest)
	r.managed(get, "/sources/:id/test", showTestConsole)
	r.managed(post, "/sources/:id/test", tryTestConsole)
	r.managed(post, "/sources/:id/capture", captureSecret)
	r.needs(gateway.PermReveal, post, "/sources/:id/secrets/:sid/reveal", revealSourceSecret)
	r.managed(get, "/sources/:id/edit", showEditSource)
	r.managed(post, "/sources/:id/edit", editSource)
	r.operated(get, "/sources/:id/pause", askPauseSource)
	r.operated(post, "/sources/:id/pause", pauseSource)
	r.operated(post, "/sources/:id/resume", resumeSource)
	r.managed(get, "/sources/:id/rotate", askRotateSource)
	r.managed(post, "/sources/:id/rotate", rotateSource)
	r.managed(get, "/sources/:id/delete", askDeleteSource)
	r.managed(post, "/sources/:id/delete", deleteSource)
}

func addEventTypeRoutes(r router) {
	const one = "/event-types/:name"
	r.within(get, "/event-types", listEventTypes)
	r.managed(get, "/event-types/"+newType, newEventType)
	r.managed(post, "/event-types/"+newType, createEventType)
	r.within(get, one, showEventType)
	r.managed(get, one+"/edit", editEventType)
	r.managed(post, one+"/edit", updateEventType)
	r.managed(get, one+"/delete", askDeleteEventType)
	r.managed(post, one+"/delete", deleteEventType)
}

func addUsageRoutes(r router) {
	r.within(get, "/usage", showUsage)
	r.within(get, "/usage/csv", downloadUsage)
}

func addEndpointRoutes(r router) {
	const one = "/endpoints/:id"
	r.within(get, "/endpoints", listEndpoints)
	r.managed(get, "/endpoints/new", newEndpoint)
	r.managed(post, "/endpoints/new", createEndpoint)
	r.managed(post, "/endpoints/new"+tryFilterPath, tryNewFilter)
	r.within(get, one, showEndpoint)
	r.managed(get, one+"/edit", editEndpoint)
	r.managed(post, one+"/edit", updateEndpoint)
	r.managed(post, one+"/edit"+tryFilterPath, tryFilter)
	r.operated(get, one+"/test", askTest)
	r.operated(post, one+"/test", testEndpoint)
	r.operated(get, one+"/pause", askPause)
	r.operated(post, one+"/pause", pauseEndpoint)
	r.operated(post, one+"/resume", resumeEndpoint)
	r.operated(get, one+"/send-now", askSendNow)
	r.operated(post, one+"/send-now", sendWaiting)
	r.managed(get, one+"/delete", askDelete)
	r.managed(post, one+"/delete", deleteEndpoint)
	r.managed(get, one+"/rotate", askRotate)
	r.managed(post, one+"/rotate", rotateSecret)
	r.needs(gateway.PermReveal, post, one+"/secrets/:sid/reveal", revealSecret)
	r.managed(get, one+"/secrets/:sid/extend", askExtendSecret)
	r.managed(post, one+"/secrets/:sid/extend", extendSecret)
	r.managed(get, one+"/secrets/:sid/end", askEndSecret)
	r.managed(post, one+"/secrets/:sid/end", endSecret)
}

func addSettingsRoutes(r router) {
	r.within(get, "/settings", showSettings)
	r.needs(gateway.PermSettings, post, "/settings", renameAccount)
	addAlertRoutes(r)
	r.within(get, "/settings/retention", showRetention)
	r.within(get, "/settings/keys", showKeys)
	r.needs(gateway.PermKeys, get, "/settings/keys/new", askNewKey)
	r.needs(gateway.PermKeys, post, "/settings/keys/new", createKey)
	r.needs(gateway.PermKeys, get, "/settings/keys/:id/revoke", askRevokeKey)
	r.needs(gateway.PermKeys, post, "/settings/keys/:id/revoke", revokeKey)
	addConfigurationRoutes(r)
}

func addAccountRoutes(r router) {
	r.personal(get, "/accounts", listAccounts)
	r.personal(get, "/accounts/new", showNewAccount)
	r.personal(post, "/accounts/new", openAccount)
}

func addPersonRoutes(r router) {
	r.personal(get, "/me/profile", showProfile)
	r.personal(post, "/me/profile", renamePerson)
	r.personal(get, "/me/security", showSecurity)
	r.personal(post, "/me/security", changePassword)
	r.personal(post, "/me/security/sessions/:session/end", endSession)
	r.personal(get, "/me/security/others", askEndOthers)
	r.personal(post, "/me/security/others", endOthers)
	addTwoStepRoutes(r)
	addEmailRoutes(r)
	r.personal(get, "/me/appearance", showAppearance)
	r.personal(post, "/me/appearance", changeAppearance)
}

func addInstanceRoutes(r router) {
	r.instance(get, "/accounts", listInstanceAccounts)
	r.instance(get, "/invitations", listInvitations)
	r.instance(post, "/invitations", invite)
	r.instance(get, "/invitations/:invitation/end", askEndInvitation)
	r.instance(post, "/invitations/:invitation/end", endInvitation)
	r.instance(get, "/lanes", showLanes)
	r.instance(post, "/lanes/:endpoint/wake", wakeLane)
	addConsoleRoutes(r)
	r.instance(get, "/storage", showStorage)
	r.instance(get, "/settings", showInstanceSettings)
	r.instance(get, "/mail", listMails)
	r.instance(get, "/mail/:mail", showMail)
	r.instance(post, "/mail/:mail/retry", retryMail)
}

func addKitRoutes(r router) {
	if r.d.Kit {
		r.personal(get, "/kit", showKit)
	}
}
