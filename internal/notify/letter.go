package notify

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// letter is what a mail says. Neither part says anything of a payload, a header
// or a secret.
type letter struct{ subject, body string }

// scene is what letters say besides what happened. Its texts are safe to stand
// in a subject.
type scene struct {
	account string
	// endpoint is what it is called, host where it is, address the whole.
	endpoint, host, address string
	// waiting is how many deliveries wait, in words.
	waiting string
	// failsOver tells that another endpoint gets what this one is not sent.
	failsOver bool
	// at is where the account's pages begin, endpointAt the endpoint's page.
	at, endpointAt string
	kind           gateway.AlertKind
	// channel tells that it is for a channel, and not for a person.
	channel bool
}

const (
	// longestName and longestAddress bound what people entered, in characters.
	longestName, longestAddress = 60, 200
	// moment is how times are written, in UTC.
	moment = "2006-01-02 15:04 UTC"
)

func newScene(base string, found store.Scene, n news) scene {
	sc := scene{account: oneLine(found.Account.Name, longestName), at: base + "/a/" + url.PathEscape(found.Account.Slug), kind: n.kind}
	if n.endpoint == nil {
		return sc
	}
	sc.address = oneLine(gateway.PlainURL(found.Endpoint.URL), longestAddress)
	if u, err := url.Parse(sc.address); err == nil {
		sc.host = oneLine(u.Host, longestName)
	}
	if sc.address == "" {
		sc.address = "none: rowlock listen gets what it is sent"
	}
	sc.host = cmp.Or(sc.host, "an endpoint")
	sc.endpoint = cmp.Or(oneLine(found.Endpoint.Description, longestName), sc.host)
	sc.endpointAt = sc.at + "/endpoints/" + n.endpoint.String()
	sc.waiting, sc.failsOver = waiting(found.Waiting), found.FailsOver
	return sc
}

func waiting(n int) string {
	switch {
	case n == 0:
		return "nothing waits for it"
	case n >= store.MaxWaitingCounted:
		return number(int64(n)) + " or more deliveries wait for it"
	}
	return counted(int64(n), "delivery waits for it", "deliveries wait for it")
}

// subject begins with the account, so that mails of several are told apart.
func (sc scene) subject(format string, args ...any) string {
	return "[" + sc.account + "] " + fmt.Sprintf(format, args...)
}

// body puts paragraphs together, and says how to get no more of these mails.
// Links stand alone in their lines.
func (sc scene) body(paragraphs ...string) string {
	if sc.channel {
		return strings.Join(paragraphs, "\n\n")
	}
	end := fmt.Sprintf("You get this mail as a member of %s. Choose which mails you get, or stop them:", sc.account)
	return strings.Join(append(paragraphs, "--", end, sc.at+"/settings/alerts"), "\n\n") + "\n"
}

// facts lays out what is known, one a line; a fact without a value is left out.
func facts(pairs ...string) string {
	var lines []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			lines = append(lines, fmt.Sprintf("  %-14s %s", pairs[i]+":", pairs[i+1]))
		}
	}
	return strings.Join(lines, "\n")
}

func written(t time.Time) string { return t.UTC().Format(moment) }

// writtenOr is empty for no time.
func writtenOr(t *time.Time) string {
	if t == nil {
		return ""
	}
	return written(*t)
}

// causeWords say why no answer came.
var causeWords = map[gateway.ErrorKind]string{
	gateway.ErrorDNS:      "the name has no address",
	gateway.ErrorConnect:  "nobody accepts the connection",
	gateway.ErrorTLS:      "the TLS handshake or the certificate failed",
	gateway.ErrorTimeout:  "no answer in time",
	gateway.ErrorReset:    "the connection broke before the answer",
	gateway.ErrorBlocked:  "the address is not allowed",
	gateway.ErrorTooLarge: "the answer's headers are too large",
	gateway.ErrorProtocol: "the answer is not HTTP",
}

// causeText says how an attempt ended.
func causeText(c gateway.Cause) string {
	switch {
	case c.StatusCode != 0:
		return "answered " + strconv.Itoa(c.StatusCode)
	case c.ErrorKind != "":
		return cmp.Or(causeWords[c.ErrorKind], "no answer")
	}
	return "unknown"
}

// counted is a number with its word, thousands apart: 1,000 deliveries.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// number writes a number with its thousands apart.
func number(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", number(n/1000), n%1000)
}

// oneLine makes a text from outside one that can stand anywhere: in one line,
// without what cannot be seen or turns text around, and not longer than most
// characters.
func oneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case r == unicode.ReplacementChar, !unicode.IsGraphic(r): // bidirectional and zero-width marks are not
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
