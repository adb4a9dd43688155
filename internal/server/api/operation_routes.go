package api

import "github.com/rowlock/rowlock/internal/gateway"

func (a *API) addOperationRoutes() {
	register(a, route{
		method: get, path: "/operations", needs: read, status: 200,
		id: "listOperations", tag: tagOperations, summary: "List bulk operations",
	}, a.listOperations)
	register(a, route{
		method: get, path: "/operations/{id}", needs: read, status: 200,
		id: "getOperation", tag: tagOperations, summary: "Get a bulk operation",
		about: "How far it got. The deliveries that it opened are listed with `GET /deliveries?operation=`.",
	}, a.getOperation)
	registerJSON(a, route{
		method: post, path: "/operations/{id}/cancel", needs: gateway.PermOperate, status: 200, optional: true,
		id: "cancelOperation", tag: tagOperations, summary: "Stop a bulk operation",
		about: "What it has opened and nobody has tried yet is put back to what it was, soon after. What is in the air stays.",
	}, a.cancelOperation)
	registerJSON(a, route{
		method: post, path: "/endpoints/{id}/recover", needs: gateway.PermOperate, status: 202, required: []string{"since"},
		id: "recoverEndpoint", tag: tagEndpoints, summary: "Recover an endpoint",
		about: "Sends again what has failed in a time, or what was never made for the endpoint. Answers with a bulk operation, which goes on by itself. It is about what has failed by now: a second call makes nothing twice.",
	}, a.recoverEndpoint)
	registerJSON(a, route{
		method: post, path: "/deliveries/redeliver", needs: gateway.PermOperate, status: 202,
		id: "redeliverDeliveries", tag: tagDeliveries, summary: "Deliver many again",
		about: "Closed deliveries by filter, or single ones. At least one filter has to be given. Answers with a bulk operation, which goes on by itself.",
	}, a.redeliverMany)
	registerJSON(a, route{
		method: post, path: "/events/process", needs: gateway.PermOperate, status: 202, required: []string{"status"},
		id: "processEvents", tag: tagEvents, summary: "Decide many events again",
		about: "Events in the status rule_error, unresolved or no_endpoints. Answers with a bulk operation, which goes on by itself.",
	}, a.processMany)
}
