package api

import "github.com/rowlock/rowlock/internal/gateway"

func (a *API) addReconciliationRoutes() {
	registerUpload(a, route{
		method: post, path: "/reconciliations", needs: gateway.PermOperate, status: 202, deadline: uploadDeadline,
		id: "createReconciliation", tag: tagReconcile, summary: "Compare a partner's list",
		about: "The body is the list: CSV or NDJSON, up to 1,000,000 rows and 256 MiB, compressed with gzip or not: `curl --data-binary @list.csv -H 'Content-Type: text/csv'`. It is read as it comes. Answers when it has been read; the comparison then goes on by itself. Rows that cannot be read are counted and told; 422 `list_unreadable`: none can be from there on. 409 `limit_reached`: five are under way, or as many are kept as can be.",
	}, a.createReconciliation)
	register(a, route{
		method: get, path: "/reconciliations", needs: read, status: 200,
		id: "listReconciliations", tag: tagReconcile, summary: "List reconciliations",
	}, a.listReconciliations)
	register(a, route{
		method: get, path: "/reconciliations/{id}", needs: read, status: 200,
		id: "getReconciliation", tag: tagReconcile, summary: "Get a reconciliation",
		about: "How far it got, and what it found.",
	}, a.getReconciliation)
	register(a, route{
		method: get, path: "/reconciliations/{id}/rows", needs: read, status: 200,
		id: "listReconciliationRows", tag: tagReconcile, summary: "List what was found",
		about: "What is missing comes newest first, rows of the list in its order. 410 `expired`: the rows were deleted, when their retention ended or since the list could not be read.",
	}, a.listReconciledRows)
	register(a, route{
		method: get, path: "/reconciliations/{id}/report", needs: read, status: 200,
		id: "getReconciliationReport", tag: tagReconcile, summary: "Download what was found",
		about: "All of it, as CSV. An apostrophe stands before a text that a spreadsheet would take for a formula. 410 `expired`: the rows were deleted.",
	}, a.getReconciliationReport)
	registerJSON(a, route{
		method: post, path: "/reconciliations/{id}/redeliver", needs: gateway.PermOperate, status: 202, optional: true,
		id: "redeliverMissing", tag: tagReconcile, summary: "Deliver what is missing",
		about: "What failed, was cancelled, has expired, or was delivered and is not listed, is delivered again; what was never created is. What was tried again since is left alone: a second call sends nothing twice. Answers with a bulk operation, which goes on by itself.",
	}, a.redeliverMissing)
	registerJSON(a, route{
		method: post, path: "/reconciliations/{id}/cancel", needs: gateway.PermOperate, status: 200, optional: true,
		id: "cancelReconciliation", tag: tagReconcile, summary: "Stop a reconciliation",
		about: "What was found so far stays.",
	}, a.cancelReconciliation)
	register(a, route{
		method: remove, path: "/reconciliations/{id}", needs: gateway.PermOperate, status: 204,
		id: "deleteReconciliation", tag: tagReconcile, summary: "Delete a reconciliation",
		about: "With its rows. Nothing that was sent is taken back.",
	}, a.deleteReconciliation)
}
