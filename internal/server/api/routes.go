package api

import (
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete

	publish = gateway.PermPublish
	read    = gateway.PermRead
)

// testDeadline bounds a test send: an attempt takes a minute at the most.
const testDeadline = gateway.MaxTimeout + 10*time.Second

const (
	tagEvents        = "Events"
	tagEndpoints     = "Endpoints"
	tagDeliveries    = "Deliveries"
	tagAttempts      = "Attempts"
	tagFailures      = "Failures"
	tagSources       = "Sources"
	tagClaims        = "Claims"
	tagEventTypes    = "Event types"
	tagUsage         = "Usage"
	tagFacts         = "Facts"
	tagOperations    = "Operations"
	tagReconcile     = "Reconciliations"
	tagKeys          = "API keys"
	tagMembers       = "Members"
	tagConfiguration = "Configuration"
	tagAudit         = "Audit log"
)

var tags = []*huma.Tag{
	{Name: tagEvents, Description: "What came in: published by your applications, or sent by providers to a source."},
	{Name: tagEndpoints, Description: "Where events go to."},
	{Name: tagDeliveries, Description: "One event on its way to one endpoint."},
	{Name: tagAttempts, Description: "The single tries of deliveries, with what was sent and what came back."},
	{Name: tagFailures, Description: "Deliveries that failed, in groups of one endpoint and one cause."},
	{Name: tagSources, Description: "Where providers send to."},
	{Name: tagClaims, Description: "The ledger of what is done once: who holds a key, and what was done. Claim before a side effect that cannot share a transaction with a table of your own, complete after it."},
	{Name: tagEventTypes, Description: "What you declare of your events: what their data looks like, and whether an endpoint gets one for each subject."},
	{Name: tagConfiguration, Description: "What an account is set up with, as one document: to keep, to review, and to bring into another account."},
	{Name: tagFacts, Description: "What the events of sources with a rule told of their subjects."},
	{Name: tagOperations, Description: "One call that acts on many deliveries or events, and goes on by itself."},
	{Name: tagUsage, Description: "What was metered: events that were decided, and deliveries that were confirmed."},
	{Name: tagReconcile, Description: "A partner's list of what it got, compared with what was to be delivered to an endpoint: what is missing there, and why, what nobody here knows, and what comes twice."},
	{Name: tagMembers, Description: "The people of the account, what they may do in the dashboard, and who is invited."},
	{Name: tagAudit, Description: "Who did what, from where and when, and who was refused."},
	{Name: tagKeys, Description: "What programs call with, and what they may do."},
}

// addRoutes adds every operation: method, path, the permission it needs, the status
// of its success, and what it is for.
func (a *API) addRoutes() {
	a.addEventRoutes()
	a.addEndpointRoutes()
	a.addListenerRoutes()
	a.addFilterRoutes()
	a.addDeliveryRoutes()
	a.addFailureRoutes()
	a.addSourceRoutes()
	a.addClaimRoutes()
	a.addEventTypeRoutes()
	a.addRuleRoutes()
	a.addFactRoutes()
	a.addOperationRoutes()
	a.addUsageRoutes()
	a.addReconciliationRoutes()
	a.addConfigurationRoutes()
	a.addMemberRoutes()
	a.addKeyRoutes()
	a.addAuditRoutes()
}

func (a *API) addEventRoutes() {
	repeat := map[int]string{http.StatusOK: "The idempotency key was known: the id is the first event's."}
	registerRaw[publishBody](a, route{
		method: post, path: "/events", needs: publish, status: 202, others: repeat, maxBody: a.MaxBody + envelopeBytes,
		tooLarge: fmt.Sprintf("The request is larger than %d bytes: data may have %d (ROWLOCK_MAX_BODY), and what stands around it %d.", a.MaxBody+envelopeBytes, a.MaxBody, envelopeBytes),
		id:       publishOne, tag: tagEvents, summary: "Publish an event",
		about: "Answers once the event is stored. Without an idempotency key every call is a new event.",
	}, a.publish)
	registerRaw[batchBody](a, route{
		method: post, path: "/events/batch", needs: publish, status: 202, maxBody: maxBatchBytes,
		tooLarge: fmt.Sprintf("The request is larger than the %d bytes that a batch may have: send fewer events at once. The data of each may have %d (ROWLOCK_MAX_BODY).", maxBatchBytes, a.MaxBody),
		id:       publishMany, tag: tagEvents, summary: "Publish up to 1,000 events",
		about: "Each event stands alone and the order is kept. The request may be 16 MiB long.",
	}, a.publishBatch)
	register(a, route{
		method: get, path: "/events", needs: read, status: 200,
		id: "listEvents", tag: tagEvents, summary: "List events",
	}, a.listEvents)
	register(a, route{
		method: get, path: "/events/export", needs: read, status: 200,
		id: "exportEvents", tag: tagEvents, summary: "Export events",
		about: "All that are meant, newest first, as they are read. What came in within the last minute is left out: it may still turn up behind what is newer. A connection that breaks off before its end means that there is more. An account exports one list at a time.",
	}, a.exportEvents)
	register(a, route{
		method: get, path: "/events/{id}", needs: read, status: 200,
		id: "getEvent", tag: tagEvents, summary: "Get an event",
		about: "With its headers, why it was decided as it was, and how its deliveries stand.",
	}, a.getEvent)
	register(a, route{
		method: get, path: "/events/{id}/payload", needs: read, status: 200,
		id: "getEventPayload", tag: tagEvents, summary: "Get an event's payload",
		about: "The bytes as they came, to be saved.",
	}, a.getPayload)
	register(a, route{
		method: remove, path: "/events/{id}/payload", needs: gateway.PermConfigure, status: 204,
		id: "deleteEventPayload", tag: tagEvents, summary: "Delete an event's payload",
		about: "For good. What is still to be sent of it is cancelled; the event stays.",
	}, a.deletePayload)
	registerJSON(a, route{
		method: post, path: "/events/{id}/redeliver", needs: gateway.PermOperate, status: 202, optional: true,
		id: "redeliverEvent", tag: tagEvents, summary: "Deliver an event again",
		about: "Wherever it went, or to one endpoint, whether that had it or not. Tells of each delivery whether it goes again; a fact that its endpoint has confirmed, for one, is left alone.",
	}, a.redeliverEvent)
	registerJSON(a, route{
		method: post, path: "/events/{id}/process", needs: gateway.PermOperate, status: 200, optional: true,
		id: "processEvent", tag: tagEvents, summary: "Decide an event again",
		about: "For events in the status rule_error, unresolved or no_endpoints.",
	}, a.processEvent)
}

func (a *API) addEndpointRoutes() {
	registerJSON(a, route{
		method: post, path: "/endpoints", needs: gateway.PermConfigure, status: 201,
		id: "createEndpoint", tag: tagEndpoints, summary: "Create an endpoint",
		about: "The answer shows the secret that verifies what it receives.",
	}, a.createEndpoint)
	register(a, route{
		method: get, path: "/endpoints", needs: read, status: 200,
		id: "listEndpoints", tag: tagEndpoints, summary: "List endpoints",
	}, a.listEndpoints)
	register(a, route{
		method: get, path: "/endpoints/{id}", needs: read, status: 200,
		id: "getEndpoint", tag: tagEndpoints, summary: "Get an endpoint",
	}, a.getEndpoint)
	registerJSON(a, route{
		method: patch, path: "/endpoints/{id}", needs: gateway.PermConfigure, status: 200,
		id: "updateEndpoint", tag: tagEndpoints, summary: "Change an endpoint",
		about: "Fields that are left out stay as they are.",
	}, a.updateEndpoint)
	register(a, route{
		method: remove, path: "/endpoints/{id}", needs: gateway.PermConfigure, status: 204,
		id: "deleteEndpoint", tag: tagEndpoints, summary: "Delete an endpoint",
		about: "Cancels what is still to be sent and keeps the history.",
	}, a.deleteEndpoint)
	a.addEndpointActRoutes()
	a.addEndpointSecretRoutes()
}

// addEndpointActRoutes adds what is done with an endpoint, and how it does.
func (a *API) addEndpointActRoutes() {
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/test", needs: gateway.PermOperate, status: 200, optional: true, deadline: testDeadline,
		id: "testEndpoint", tag: tagEndpoints, summary: "Send a test event",
		about: "Answers with the attempt, whatever its outcome.",
	}, a.testEndpoint)
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/pause", needs: gateway.PermOperate, status: 200, optional: true,
		id: "pauseEndpoint", tag: tagEndpoints, summary: "Pause an endpoint",
		about: "Its deliveries are held until it is resumed.",
	}, a.pauseEndpoint)
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/resume", needs: gateway.PermOperate, status: 200, optional: true,
		id: "resumeEndpoint", tag: tagEndpoints, summary: "Resume an endpoint",
		about: "Sends what was held, and zeroes the failures.",
	}, a.resumeEndpoint)
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/send-now", needs: gateway.PermOperate, status: 200, optional: true,
		id: "sendEndpointNow", tag: tagEndpoints, summary: "Send what waits now",
		about: "Makes every delivery due that waits for a later attempt, at an active endpoint. Schedules stay as they are.",
	}, a.sendNow)
	register(a, route{
		method: get, path: "/endpoints/{id}/stats", needs: read, status: 200,
		id: "getEndpointStats", tag: tagEndpoints, summary: "Count an endpoint's attempts",
	}, a.endpointStats)
}

func (a *API) addEndpointSecretRoutes() {
	register(a, route{
		method: get, path: "/endpoints/{id}/secrets", needs: gateway.PermReveal, status: 200,
		id: "listEndpointSecrets", tag: tagEndpoints, summary: "Reveal an endpoint's secrets",
		about: "Recorded in the audit log.",
	}, a.listEndpointSecrets)
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/secrets/rotate", needs: gateway.PermConfigure, status: 200, optional: true,
		id: "rotateEndpointSecret", tag: tagEndpoints, summary: "Rotate an endpoint's secret",
		about: "During the overlap every live secret signs.",
	}, a.rotateEndpointSecret)
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/secrets/{sid}/end", needs: gateway.PermConfigure, status: 200, optional: true,
		id: "endEndpointSecret", tag: tagEndpoints, summary: "End an endpoint's secret now",
	}, a.endEndpointSecret)
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/secrets/{sid}/extend", needs: gateway.PermConfigure, status: 200, required: []string{"overlap"},
		id: "extendEndpointSecret", tag: tagEndpoints, summary: "Let an endpoint's secret end later",
		about: "For one that is about to end. It signs for the overlap from now on, and never ends sooner than it did.",
	}, a.extendEndpointSecret)
}

func (a *API) addDeliveryRoutes() {
	register(a, route{
		method: get, path: "/deliveries", needs: read, status: 200,
		id: "listDeliveries", tag: tagDeliveries, summary: "List deliveries",
	}, a.listDeliveries)
	register(a, route{
		method: get, path: "/deliveries/{id}", needs: read, status: 200,
		id: "getDelivery", tag: tagDeliveries, summary: "Get a delivery", about: "With its attempts.",
	}, a.getDelivery)
	registerJSON(a, route{
		method: post, path: "/deliveries/{id}/redeliver", needs: gateway.PermOperate, status: 202, optional: true,
		id: "redeliverDelivery", tag: tagDeliveries, summary: "Deliver again",
		about: "The schedule begins anew; the delivery keeps its id. A delivery that waits is sent now.",
	}, a.redeliver)
	registerJSON(a, route{
		method: post, path: "/deliveries/{id}/cancel", needs: gateway.PermOperate, status: 200, optional: true,
		id: "cancelDelivery", tag: tagDeliveries, summary: "Cancel a delivery",
	}, a.cancelDelivery)
	register(a, route{
		method: get, path: "/attempts", needs: read, status: 200,
		id: "listAttempts", tag: tagAttempts, summary: "List attempts", about: "Those that started last come first.",
	}, a.listAttempts)
	register(a, route{
		method: get, path: "/attempts/{id}", needs: read, status: 200,
		id: "getAttempt", tag: tagAttempts, summary: "Get an attempt",
	}, a.getAttempt)
}

func (a *API) addFailureRoutes() {
	register(a, route{
		method: get, path: "/failures", needs: read, status: 200,
		id: "listFailures", tag: tagFailures, summary: "Group failed deliveries",
		about: "By endpoint and cause, the largest group first. The newest 10,000 failed deliveries are looked at.",
	}, a.listFailures)
	registerJSON(a, route{
		method: post, path: "/failures/dismiss", needs: gateway.PermOperate, status: 200,
		id: "dismissFailures", tag: tagFailures, summary: "Dismiss failures",
		about: "They are not counted as failures any more until the same fails again. Answers with the groups as they are now; those that failed after until are still open.",
	}, a.dismissFailures)
	registerJSON(a, route{
		method: post, path: "/failures/restore", needs: gateway.PermOperate, status: 200,
		id: "restoreFailures", tag: tagFailures, summary: "Open dismissed failures again",
	}, a.restoreFailures)
}

func (a *API) addSourceRoutes() {
	registerJSON(a, route{
		method: post, path: "/sources", needs: gateway.PermConfigure, status: 201, required: []string{"name", "kind"},
		id: "createSource", tag: tagSources, summary: "Create a source",
		about: "The answer shows the address to give to the provider.",
	}, a.createSource)
	register(a, route{
		method: get, path: "/sources", needs: read, status: 200,
		id: "listSources", tag: tagSources, summary: "List sources",
	}, a.listSources)
	register(a, route{
		method: get, path: "/sources/{id}", needs: read, status: 200,
		id: "getSource", tag: tagSources, summary: "Get a source",
	}, a.getSource)
	registerJSON(a, route{
		method: patch, path: "/sources/{id}", needs: gateway.PermConfigure, status: 200,
		id: "updateSource", tag: tagSources, summary: "Change a source",
		about: "Fields that are left out stay as they are.",
	}, a.updateSource)
	register(a, route{
		method: remove, path: "/sources/{id}", needs: gateway.PermConfigure, status: 204,
		id: "deleteSource", tag: tagSources, summary: "Delete a source",
		about: "Its address and its secrets end; its events stay.",
	}, a.deleteSource)
	registerJSON(a, route{
		method: post, path: "/sources/{id}/secrets/rotate", needs: gateway.PermConfigure, status: 200,
		id: "rotateSourceSecret", tag: tagSources, summary: "Give a source its new secret",
		about: "During the overlap every live secret verifies.",
	}, a.rotateSourceSecret)
	registerJSON(a, route{
		method: post, path: "/sources/{id}/pause", needs: gateway.PermOperate, status: 200, optional: true,
		id: "pauseSource", tag: tagSources, summary: "Pause a source",
		about: "It goes on taking events, and holds them.",
	}, a.pauseSource)
	registerJSON(a, route{
		method: post, path: "/sources/{id}/resume", needs: gateway.PermOperate, status: 200, optional: true,
		id: "resumeSource", tag: tagSources, summary: "Resume a source",
		about: "What was held is decided now.",
	}, a.resumeSource)
	register(a, route{
		method: get, path: "/sources/{id}/requests", needs: read, status: 200,
		id: "listSourceRequests", tag: tagSources, summary: "List what was not accepted",
		about: "Repeats, handshakes, and requests that were refused: the newest 1,000.",
	}, a.listRequests)
	register(a, route{
		method: get, path: "/sources/{id}/requests/{request}", needs: read, status: 200,
		id: "getSourceRequest", tag: tagSources, summary: "Get a request that was not accepted",
	}, a.getRequest)
	registerJSON(a, route{
		method: post, path: "/sources/{id}/requests/{request}/accept", needs: gateway.PermConfigure, status: 200, optional: true,
		id: "acceptSourceRequest", tag: tagSources, summary: "Accept a refused request after all",
		about: "The source's present secrets prove it anew, whatever the time that it was signed at. It is audited, and done once.",
	}, a.acceptRequest)
	a.addSourceSecretRoutes()
	a.addSourceTrialRoutes()
}

func (a *API) addSourceSecretRoutes() {
	register(a, route{
		method: get, path: "/source-kinds", needs: read, status: 200,
		id: "listSourceKinds", tag: tagSources, summary: "List the kinds of sources",
		about: "How each proves its requests, knows repeats, and wants to be answered.",
	}, a.listSourceKinds)
	register(a, route{
		method: get, path: "/sources/{id}/secrets", needs: gateway.PermReveal, status: 200,
		id: "listSourceSecrets", tag: tagSources, summary: "List a source's live secrets",
		about: "The text is shown only of those that the provider sent to the source itself, and that is audited.",
	}, a.listSourceSecrets)
	registerJSON(a, route{
		method: post, path: "/sources/{id}/capture", needs: gateway.PermConfigure, status: 200, optional: true,
		id: "captureSourceSecret", tag: tagSources, summary: "Take the next secret that the provider sends",
		about: "For an hour, and once. Only for kinds whose providers send it; the present secrets stay.",
	}, a.captureSourceSecret)
}
