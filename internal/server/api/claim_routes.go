package api

import (
	"net/http"

	"github.com/rowlock/rowlock/internal/gateway"
)

func (a *API) addClaimRoutes() {
	done := map[int]string{http.StatusOK: "It is done: the result is what was kept with it."}
	registerJSON(a, route{
		method: post, path: "/claims", needs: publish, status: 201, others: done, required: []string{"scope", "key", "lease"},
		id: "claim", tag: tagClaims, summary: "Claim a key",
		about: "201: you hold it, and nobody else does until its lease ends. 200: it was done. 409 `claim_in_progress`: somebody else holds it; Retry-After says when its lease ends.",
	}, a.claim)
	register(a, route{
		method: get, path: "/claims", needs: read, status: 200,
		id: "listClaims", tag: tagClaims, summary: "List claims",
	}, a.listClaims)
	register(a, route{
		method: get, path: "/claims/{id}", needs: read, status: 200,
		id: "getClaim", tag: tagClaims, summary: "Get a claim",
		about: "With everybody who held it.",
	}, a.getClaim)
	a.addClaimEndRoutes()
}

// addClaimEndRoutes adds what is done with a claim that somebody holds.
func (a *API) addClaimEndRoutes() {
	const stale = " 409 `fence_stale`: it is not yours any more."
	registerJSON(a, route{
		method: post, path: "/claims/{id}/complete", needs: publish, status: 200, required: []string{"fence"},
		id: "completeClaim", tag: tagClaims, summary: "Complete a claim",
		about: "It is done: whoever claims the key again is told so, with the result. Completing it again with the same fence changes nothing." + stale,
	}, a.completeClaim)
	registerJSON(a, route{
		method: post, path: "/claims/{id}/release", needs: publish, status: 200, required: []string{"fence"},
		id: "releaseClaim", tag: tagClaims, summary: "Release a claim",
		about: "It was not done: the next who asks holds it." + stale,
	}, a.releaseClaim)
	registerJSON(a, route{
		method: post, path: "/claims/{id}/extend", needs: publish, status: 200, required: []string{"fence", "lease"},
		id: "extendClaim", tag: tagClaims, summary: "Extend a claim's lease",
		about: "A sign of life." + stale,
	}, a.extendClaim)
	registerJSON(a, route{
		method: post, path: "/claims/{id}/reclaim", needs: gateway.PermOperate, status: 200, required: []string{"reason"},
		id: "reclaimClaim", tag: tagClaims, summary: "Free a claim",
		about: "Takes it from its holder, whether its lease has ended or not: the next who asks holds it. The work may be done twice if the holder still lives. Recorded in the audit log.",
	}, a.reclaimClaim)
	registerJSON(a, route{
		method: post, path: "/claims/{id}/resolve", needs: gateway.PermOperate, status: 200, required: []string{"fence", "reason"},
		id: "resolveClaim", tag: tagClaims, summary: "Mark a claim as done",
		about: "For a thing that was done, though its holder never said so. Recorded in the audit log.",
	}, a.resolveClaim)
}
