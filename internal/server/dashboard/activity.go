package dashboard

import (
	"cmp"
	"strings"

	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/page"
)

// deeds are the actions of the audit log in words, which the name of what was
// acted on follows.
var deeds = map[string]string{
	"account.create": "created the account",
	"account.rename": "renamed the account to",
	"account.refuse": "was refused what they may not do:",

	"account.hand_over": "handed the account over to",
	"account.close":     "had the account deleted,",
	"account.restore":   "restored the account",
	"account.delete":    "deleted the account",

	"endpoint.create":        "added the endpoint",
	"endpoint.update":        "changed the endpoint",
	"endpoint.delete":        "deleted the endpoint",
	"endpoint.pause":         "paused",
	"endpoint.resume":        "resumed",
	"endpoint.disable":       "disabled",
	"endpoint.test":          "sent a test event to",
	"endpoint.secret.rotate": "rotated the secret of",
	"endpoint.secret.end":    "ended a secret of",
	"endpoint.secret.reveal": "looked at the secrets of",

	"endpoint.listen":   "began to listen to",
	"endpoint.send_now": "had sent now what waited for",
	"failures.dismiss":  "dismissed failures of",
	"failures.restore":  "opened again what was dismissed of",

	"source.create":        "added the source",
	"source.update":        "changed the source",
	"source.delete":        "deleted the source",
	"source.pause":         "paused the source",
	"source.resume":        "resumed the source",
	"source.secret.rotate": "rotated the secret of",
	"source.rule.set":      "gave a rule to",
	"source.rule.clear":    "took the rule from",
	"source.test":          "sent a test request to",
	"source.secret.reveal": "looked at the secrets of",
	"request.accept":       "accepted the refused request",

	"source.secret.await":   "let the next secret be taken by",
	"source.secret.capture": "gave its secret to",

	"event.redeliver":      "redelivered the event",
	"event.process":        "had Rowlock decide again on",
	"event.delete_payload": "deleted the payload of",
	"event.expire":         "let undecided events expire:",
	"delivery.redeliver":   "redelivered",
	"delivery.cancel":      "cancelled",
	"delivery.sign":        "signed a request of",
	"delivery.expire":      "let open deliveries expire:",

	"claim.reclaim": "reclaimed",
	"claim.resolve": "marked as done:",

	"member.choose_mails":      "chose to get mails about",
	"member.invite":            "invited",
	"member.invite_again":      "invited again",
	"member.revoke_invitation": "took back an invitation",
	"member.join":              "joined the account:",
	"member.role":              "changed a role:",
	"member.remove":            "removed",
	"member.leave":             "left the account:",

	"account.two_step_required": "made two-step log-in required",
	"account.two_step_optional": "made two-step log-in optional",

	"endpoint.recover":        "started to",
	"delivery.redeliver_many": "started to",
	"event.process_many":      "started to",
	"operation.cancel":        "stopped",

	"event_type.create": "declared the event type",
	"event_type.update": "changed the event type",
	"event_type.delete": "deleted the event type",

	"key.create": "created the API key",
	"key.end":    "ended the API key",

	"endpoint.wake":          "woke",
	"endpoint.secret.extend": "let longer live a secret of",

	"reconciliation.create":    "compared",
	"reconciliation.cancel":    "stopped the comparison",
	"reconciliation.delete":    "deleted the comparison",
	"reconciliation.redeliver": "started to",

	"alerts.channel_set":    "had a channel told of",
	"alerts.channel_test":   "sent a test message to the channel, which was",
	"alerts.channel_remove": "had the channel told no more",
	"retention.warning":     "warned of what is about to expire:",

	"account.refuse_more": "was refused more often:",
	"key.refuse":          "was refused as the API key",

	"login.refuse":         "could not log in",
	"login.refuse_more":    "could not log in, again and again",
	"login.start":          "logged in",
	"login.half":           "gave the right password, and was asked for a code",
	"login.end":            "logged out",
	"login.end_other":      "ended another session of theirs",
	"login.end_others":     "ended their other sessions",
	"login.set_password":   "changed their password",
	"login.ask_reset":      "asked for a link that sets their password",
	"login.make_reset":     "made, on the server, a link that sets the password of",
	"login.reset":          "set their password by a link",
	"login.ask_email":      "asked to log in with the address",
	"login.email":          "changed the address that they log in with from",
	"login.two_step_on":    "turned two-step log-in on:",
	"login.two_step_off":   "turned two-step log-in off:",
	"login.recovery_codes": "made new recovery codes:",
	"person.rename":        "changed their name to",

	"view.save":   "saved the view",
	"view.delete": "deleted the view",

	"export.events":         "exported events:",
	"export.configuration":  "exported the configuration:",
	"export.audit_log":      "exported the audit log as",
	"export.usage":          "exported the usage of",
	"export.reconciliation": "exported the comparison",

	"invitation.create": "invited to the instance",
	"invitation.end":    "took back an invitation to the instance",
	"mail.retry":        "had tried again the mail",
	"job.console":       "used the console of jobs:",
}

// activity is what was done last in the account, in words.
func (v *visit) activity(rows int) ([]page.Activity, error) {
	entries, err := v.d.Store.AuditLog(v.ctx(), v.account(), store.AuditFilter{Changes: true}, store.Page[gateway.AuditID]{Limit: rows})
	if err != nil {
		return nil, err
	}
	named, err := v.objectNames(entries)
	if err != nil {
		return nil, err
	}
	lines := make([]page.Activity, len(entries))
	for i, e := range entries {
		_, key := e.Actor.Key()
		lines[i] = page.Activity{Who: whoActed(e), Key: key, Did: deed(e.Action), At: e.CreatedAt}
		lines[i].What, lines[i].Path = v.acted(e, named)
	}
	return lines, nil
}

func whoActed(e gateway.AuditEntry) string {
	if e.ActorName == "" {
		return "Somebody"
	}
	return e.ActorName
}

// deed is an action in words. One that is not known is shown by its name.
func deed(action string) string {
	if words, ok := deeds[action]; ok {
		return words
	}
	return strings.NewReplacer(".", " ", "_", " ").Replace(action)
}

// object is something that was acted on.
type object struct {
	name string
	// gone tells that it was deleted, and has no page.
	gone bool
}

// objectNames are the endpoints, sources, people and keys that were acted on, by
// their ids.
func (v *visit) objectNames(entries []gateway.AuditEntry) (map[string]object, error) {
	var endpoints []gateway.EndpointID
	var sources []gateway.SourceID
	var actors []gateway.Actor
	for _, e := range entries {
		if id, err := gateway.ParseID[gateway.EndpointID](e.Object); err == nil {
			endpoints = append(endpoints, id)
		} else if id, err := gateway.ParseID[gateway.SourceID](e.Object); err == nil {
			sources = append(sources, id)
		} else if !e.Refused || e.Object == string(e.Actor) { // who is refused may name anybody
			actors = append(actors, gateway.Actor(e.Object))
		}
	}
	named := map[string]object{}
	names, err := v.d.Store.ActorNames(v.ctx(), v.account(), actors)
	if err != nil {
		return nil, err
	}
	for actor, name := range names {
		named[string(actor)] = object{name: name}
	}
	if len(endpoints) > 0 {
		labels, err := v.d.Store.EndpointLabels(v.ctx(), v.account(), endpoints)
		if err != nil {
			return nil, err
		}
		for id, l := range labels {
			named[id.String()] = object{called(l), l.Deleted}
		}
	}
	if len(sources) == 0 {
		return named, nil
	}
	labels, err := v.d.Store.SourceLabels(v.ctx(), v.account(), sources)
	for id, l := range labels {
		named[id.String()] = object{l.Name, l.Deleted}
	}
	return named, err
}

// acted is what an entry's object is called, and where its page is.
func (v *visit) acted(e gateway.AuditEntry, named map[string]object) (what, path string) {
	if o := named[e.Object]; o.gone {
		return o.name, ""
	}
	if name, ok := strings.CutPrefix(e.Object, eventtype.AuditObject); ok {
		if e.Action == "event_type.delete" {
			return name, ""
		}
		return name, v.typePath(name)
	}
	kind, _, _ := strings.Cut(e.Object, "_")
	switch kind {
	case gateway.EndpointID{}.Prefix():
		return named[e.Object].name, v.at("endpoints", e.Object)
	case gateway.SourceID{}.Prefix():
		return named[e.Object].name, v.at("sources", e.Object)
	case gateway.EventID{}.Prefix():
		return shortObject(e.Object), v.at("events", e.Object)
	case gateway.DeliveryID{}.Prefix():
		return shortObject(e.Object), v.at("deliveries", e.Object)
	case gateway.ClaimID{}.Prefix():
		return shortObject(e.Object), v.at("claims", e.Object)
	case gateway.RequestID{}.Prefix():
		return shortObject(e.Object), v.at("search") + "?q=" + e.Object // which finds its source
	case gateway.OperationID{}.Prefix():
		return operationWords(e.Detail), v.at("operations", e.Object)
	case gateway.MailID{}.Prefix():
		return shortObject(e.Object), mailPath + "/" + e.Object
	case gateway.KeyID{}.Prefix():
		return named[e.Object].name, v.at("settings", "keys")
	case gateway.UserID{}.Prefix():
		return personWords(e, named[e.Object].name), ""
	case gateway.AccountID{}.Prefix():
		return v.accountWords(e), ""
	default:
		return e.Detail, ""
	}
}

// personWords is what is to be said of something that was done to a person,
// whose name is left out where they did it to themselves.
func personWords(e gateway.AuditEntry, name string) string {
	switch {
	case e.Object != string(e.Actor):
		return cmp.Or(name, e.Detail)
	case e.Area() == gateway.AreaLogIn:
		return ""
	default:
		return e.Detail
	}
}

// accountWords is what is to be said of something that was done to the whole
// account.
func (v *visit) accountWords(e gateway.AuditEntry) string {
	if e.Detail == "" && e.Action == "account.create" {
		return v.membership.Account.Name
	}
	return e.Detail
}

// shortObject is the end of an id, which differs between neighbours.
func shortObject(id string) string {
	const head, tail = 4, 8
	if len(id) <= head+tail {
		return id
	}
	return id[:head] + "…" + id[len(id)-tail:]
}
