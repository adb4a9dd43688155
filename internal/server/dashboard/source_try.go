package dashboard

import (
	"fmt"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// tryScript is lines for a shell that send one event to a source, signed as
// its sender would sign; empty where that cannot be done from here. The secret
// is for the reader to fill in.
func tryScript(s gateway.Source, url string, secrets []gateway.Secret) string {
	to := shellWord(url)
	switch s.Kind {
	case gateway.SourceKindAPI:
		return fmt.Sprintf(tryAPI, to)
	case "none":
		return fmt.Sprintf(tryUnsigned, to)
	case "github":
		return fmt.Sprintf(tryGitHub, to)
	case "stripe":
		return fmt.Sprintf(tryStripe, to)
	case "standard_webhooks":
		if len(secrets) > 0 && strings.HasPrefix(secrets[0].Value, "whpk_") {
			return "" // only the sender has the private key
		}
		return fmt.Sprintf(tryStandardWebhooks, to)
	case kindHMAC:
		return tryHMAC(choicesOf(s.Settings), to)
	default:
		return ""
	}
}

const (
	tryAPI = `ROWLOCK_API_KEY='paste an API key here'
curl -sS %s \
  -H "Authorization: Bearer $ROWLOCK_API_KEY" \
  -H 'Content-Type: application/json' \
  --data-binary '{"type":"order.created","data":{"id":"ord_1"}}'
`
	tryUnsigned = `curl -sS %s \
  -H 'Content-Type: application/json' \
  --data-binary '{"hello":"from a terminal"}'
`
	tryGitHub = `SECRET='paste the secret here'
BODY='{"zen":"Sent from a terminal."}'
SIGNATURE=$(printf '%%s' "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d ' ' -f 1)
curl -sS %s \
  -H 'Content-Type: application/json' \
  -H 'X-GitHub-Event: ping' \
  -H "X-GitHub-Delivery: test-$(date +%%s)" \
  -H "X-Hub-Signature-256: sha256=$SIGNATURE" \
  --data-binary "$BODY"
`
	tryStripe = `SECRET='paste the secret here'
TIME=$(date +%%s)
BODY="{\"id\":\"evt_test_$TIME\",\"object\":\"event\",\"type\":\"test.sent\"}"
SIGNATURE=$(printf '%%s' "$TIME.$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d ' ' -f 1)
curl -sS %s \
  -H 'Content-Type: application/json' \
  -H "Stripe-Signature: t=$TIME,v1=$SIGNATURE" \
  --data-binary "$BODY"
`
	tryStandardWebhooks = `SECRET='paste the secret here'
TIME=$(date +%%s)
ID="msg_test_$TIME"
BODY='{"type":"test.sent","data":{"from":"a terminal"}}'
KEY=$(printf '%%s' "${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
SIGNATURE=$(printf '%%s' "$ID.$TIME.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)
curl -sS %s \
  -H 'Content-Type: application/json' \
  -H "webhook-id: $ID" \
  -H "webhook-timestamp: $TIME" \
  -H "webhook-signature: v1,$SIGNATURE" \
  --data-binary "$BODY"
`
)

// tryHMAC signs as the settings say.
func tryHMAC(chosen map[string]string, to string) string {
	algorithm, encode := chosen["algorithm"], `-r | cut -d ' ' -f 1`
	if algorithm == "" {
		algorithm = "sha256"
	}
	if chosen["encoding"] == "base64" {
		encode = `-binary | openssl base64 -A`
	}
	var b strings.Builder
	b.WriteString("SECRET='paste the secret here'\n")
	if chosen["timestamp_header"] != "" || chosen[fieldIDHeader] != "" {
		b.WriteString("TIME=$(date +%s)\n")
	}
	if chosen[fieldIDHeader] != "" {
		b.WriteString("ID=\"test-$TIME\"\n")
	}
	b.WriteString("BODY='{\"hello\":\"from a terminal\"}'\n")
	fmt.Fprintf(&b, "SIGNATURE=$(printf '%%s' %s | openssl dgst -%s -hmac \"$SECRET\" %s)\n", signedText(chosen["signed"], to), algorithm, encode)
	fmt.Fprintf(&b, "curl -sS %s \\\n  -H 'Content-Type: application/json' \\\n", to)
	for _, header := range []struct{ setting, value string }{
		{"timestamp_header", `"$TIME"`}, {fieldIDHeader, `"$ID"`}, {"type_header", "test.sent"},
	} {
		if name := chosen[header.setting]; name != "" {
			fmt.Fprintf(&b, "  -H %s%s \\\n", shellWord(name+": "), header.value)
		}
	}
	fmt.Fprintf(&b, "  -H %s\"$SIGNATURE\" \\\n  --data-binary \"$BODY\"\n", shellWord(chosen["header"]+": "+chosen["prefix"]))
	return b.String()
}

// signedText are the arguments that a shell's printf puts together to the text
// that is signed.
func signedText(template, to string) string {
	if template == "" {
		template = "{body}"
	}
	values := map[string]string{"body": `"$BODY"`, "timestamp": `"$TIME"`, "id": `"$ID"`, "url": to}
	var parts []string
	for template != "" {
		literal, rest, _ := strings.Cut(template, "{")
		if literal != "" {
			parts = append(parts, shellWord(literal))
		}
		hole, after, _ := strings.Cut(rest, "}")
		if value, ok := values[hole]; ok {
			parts = append(parts, value)
		}
		template = after
	}
	return strings.Join(parts, " ")
}
