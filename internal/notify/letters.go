package notify

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// endpointDisabled tells that an endpoint was stopped.
func endpointDisabled(sc scene, d gateway.EndpointDisabledData) letter {
	reason := oneLine(d.Reason, longestName)
	lost := fmt.Sprintf("Nothing is lost. At this moment %s; what comes in is held until its retention ends.", sc.waiting)
	next := "What to do next: mend the receiver, and press Resume on the endpoint's page. All that is held is sent then. If it is gone for good, delete the endpoint."
	if sc.failsOver {
		lost = "Nothing is lost. What waited and what comes in goes to its failover at once."
		next = "What to do next: mend the receiver, and press Resume on the endpoint's page. If it is gone for good, delete the endpoint."
	}
	return letter{sc.subject("%s was disabled: %s", sc.host, reason), sc.body(
		fmt.Sprintf("Rowlock has disabled the endpoint %s of %s: %s. Nothing is sent to it any more.", sc.endpoint, sc.account, reason),
		facts("Address", sc.address, "Failing since", writtenOr(d.FailingSince), "Disabled at", written(d.DisabledAt), "Last attempt", causeText(d.Cause())),
		lost, next, sc.endpointAt,
	)}
}

// endpointFailing warns before an endpoint is stopped.
func endpointFailing(sc scene, d gateway.EndpointFailingData) letter {
	return letter{sc.subject("%s is failing: %d of %d failures in a row", sc.host, d.Failures, d.DisableAfter), sc.body(
		fmt.Sprintf("The endpoint %s of %s has failed %d times in a row. At %d Rowlock disables it; one success starts the count again. Of the failures of one second, one counts.",
			sc.endpoint, sc.account, d.Failures, d.DisableAfter),
		facts("Address", sc.address, "Failing since", written(d.FailingSince), "Last attempt", causeText(d.Cause())),
		fmt.Sprintf("Nothing is lost so far. At this moment %s; each is tried as often as its schedule says.", sc.waiting),
		"What to do next: see on the endpoint's page what came back, and mend the receiver. If it stays away for long, pause the endpoint: what comes in is held then.",
		sc.endpointAt,
	)}
}

// deliveriesFailed tells of what was given up since the last mail.
func deliveriesFailed(sc scene, d store.Digest) letter {
	failed := counted(d.Failed, "delivery", "deliveries")
	return letter{sc.subject("%s to %s failed", failed, sc.host), sc.body(
		fmt.Sprintf("%s to %s failed %s; %s.", failed, sc.endpoint, since(d), mostOften(d)),
		facts("Account", sc.account, "Address", sc.address),
		"What failed is not tried again by itself.",
		"What to do next: see what came back, mend the receiver, and send again what failed, from the page of failures.",
		sc.at+"/failures",
		"The endpoint's page:",
		sc.endpointAt,
		"Of this endpoint you get no other such mail within the next hour.",
	)}
}

func since(d store.Digest) string {
	if d.Failed == 1 {
		return "at " + written(d.Since)
	}
	return "since " + written(d.Since)
}

// mostOften says why most of them failed.
func mostOften(d store.Digest) string {
	cause := mostCommon(d.Causes)
	switch {
	case d.Failed == 1:
		return "the last attempt: " + causeText(cause)
	case cause.StatusCode != 0:
		return "the most common answer is " + strconv.Itoa(cause.StatusCode)
	}
	return "most often: " + causeText(cause)
}

// mostCommon is the cause that most have; of several, the first by name.
func mostCommon(causes map[string]int64) gateway.Cause {
	var most int64
	var key string
	for k, n := range causes {
		if n > most || n == most && k < key {
			most, key = n, k
		}
	}
	if status, err := strconv.Atoi(key); err == nil {
		return gateway.Cause{StatusCode: status}
	}
	return gateway.Cause{ErrorKind: gateway.ErrorKind(key)}
}

// deliveriesExpired tells of what was never sent.
func deliveriesExpired(sc scene, d gateway.DeliveryExpiredData) letter {
	day := oneLine(d.Day, longestName)
	expired := counted(int64(d.Deliveries), "delivery", "deliveries")
	return letter{sc.subject("%s of %s expired", expired, day), sc.body(
		fmt.Sprintf("%s of events of %s had not arrived when their retention ended, and %s closed as expired. Their payloads are deleted: Rowlock cannot send them any more.",
			expired, day, map[bool]string{true: "was", false: "were"}[d.Deliveries == 1]),
		facts("Account", sc.account, "Expired at", written(d.ExpiredAt)),
		"What to do next: look for endpoints that are paused or disabled. What is held for them expires, too, day by day.",
		sc.at+"/endpoints",
	)}
}

// claimDoubtful tells that nobody knows whether a fact reached an endpoint. What
// it is about may stand in a payload: that is for the claim's page.
func claimDoubtful(sc scene, d gateway.ClaimDoubtfulData) letter {
	eventType := oneLine(d.EventType, longestName)
	next := "Rowlock sends it again by itself, under the same Idempotency-Key: a receiver that looks at it does nothing twice. What to do next: nothing, if yours does. If it does not, ask it whether it has this one. The claim says what it is about."
	if d.OnDoubt == gateway.OnDoubtHold {
		next = "It waits for you: nothing is sent before. What to do next: ask the receiver whether it has it. If it does, mark it as done; if not, reclaim it, and it goes out again. Both are buttons on the claim's page."
	}
	return letter{sc.subject("In doubt whether %s was told of %s", sc.host, eventType), sc.body(
		fmt.Sprintf("An event of the type %s went out to the endpoint %s of %s, which is to get it once, and no answer was recorded in the time that it had. Nobody knows whether it arrived: the sending process may have died.",
			eventType, sc.endpoint, sc.account),
		facts("Address", sc.address, "Waited until", written(d.LeaseExpiredAt)),
		next, sc.at+"/claims/"+d.ClaimID.String(),
	)}
}

// keyEnds tells that a key is of no use soon.
func keyEnds(sc scene, key gateway.APIKey) letter {
	name := oneLine(key.Name, longestName)
	used := "never"
	if key.LastUsedAt != nil {
		used = written(*key.LastUsedAt)
	}
	return letter{sc.subject("The API key %s ends at %s", name, writtenOr(key.EndsAt)), sc.body(
		fmt.Sprintf("The API key %s of %s ends at %s. Whatever uses it then is refused.", name, sc.account, writtenOr(key.EndsAt)),
		facts("Key", "rk_…"+key.Hint, "Last used", used),
		"What to do next: make a new key, and give it to what uses this one. If nothing does, do nothing.",
		sc.at+"/settings/keys",
	)}
}

// operationWords say what an operation does.
var operationWords = map[gateway.OperationKind]string{
	gateway.OperationRecoverFailed:  "The recovery of failed deliveries",
	gateway.OperationRecoverMissing: "The recovery of missing deliveries",
	gateway.OperationRedeliver:      "A redelivery of many",
	gateway.OperationReprocess:      "The reprocessing of events",
}

// operationDone tells that a bulk operation came to its end.
func operationDone(sc scene, d gateway.OperationDoneData) letter {
	what, how := cmp.Or(operationWords[d.Kind], "A bulk operation"), "is done"
	if d.State == gateway.OperationCancelled {
		how = "was stopped"
	}
	skipped := ""
	if d.Failed > 0 {
		skipped = number(int64(d.Failed))
	}
	return letter{sc.subject("%s %s: %s of %s", what, how, number(int64(d.Done)), number(int64(d.Total))), sc.body(
		fmt.Sprintf("%s in %s %s.", what, sc.account, how),
		facts("Done", number(int64(d.Done)), "Matched", number(int64(d.Total)), "Skipped", skipped),
		"What to do next: see how its deliveries fare since, and what was skipped.",
		sc.at+"/operations/"+d.ID.String(),
	)}
}
