package signature

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// hmacSettings are the settings of the kind hmac, by the names in the JSON.
type hmacSettings struct {
	Header          string // header: holds the signature; required
	Algorithm       string // algorithm: sha1, sha256 (default) or sha512
	Encoding        string // encoding: hex (default) or base64
	Prefix          string // prefix: comes before the signature, e.g. "sha256="
	Signed          string // signed: template of the signed text, default "{body}"
	TimestampHeader string // timestamp_header: seconds since 1970; required by {timestamp}
	IDHeader        string // id_header: the event's id; required by {id}
	TypeHeader      string // type_header: the event's type
}

// hmacFields are the settings as the form has them.
var hmacFields = []Setting{
	{Name: "header", Label: "Header with the signature", Example: "X-Signature", Required: true, Mono: true, Wide: true, MaxLength: maxHeaderNameLen},
	{Name: "algorithm", Label: "Algorithm", Choices: []string{"sha256", "sha1", "sha512"}},
	{Name: "encoding", Label: "Encoding", Choices: []string{"hex", "base64"}},
	{
		Name: "prefix", Label: "Text before the signature", Example: "sha256=", Mono: true, Wide: true, MaxLength: maxPrefixLen,
		Hint: "Left empty: the header holds the signature alone.",
	},
	{
		Name: "signed", Label: "What is signed", Example: "{body}", Mono: true, Wide: true, MaxLength: maxTemplateLen,
		Hint: "Text with {body}, {timestamp}, {id} and {url} in it, such as v0:{timestamp}:{body}. Left empty: {body}.",
	},
	{
		Name: "timestamp_header", Label: "Header with the time", Example: "X-Timestamp", Mono: true, MaxLength: maxHeaderNameLen,
		Hint: "Seconds since 1970. Needed for {timestamp}.",
	},
	{
		Name: "id_header", Label: "Header with the event’s ID", Example: "X-Event-Id", Mono: true, MaxLength: maxHeaderNameLen,
		Hint: "Repeats are known by it. Needed for {id}.",
	},
	{
		Name: "type_header", Label: "Header with the event’s type", Example: "X-Event-Type", Mono: true, MaxLength: maxHeaderNameLen,
		Hint: "Left empty: webhook.received.",
	},
}

// hmacPlan is settings made ready to verify with.
type hmacPlan struct {
	hmacSettings

	proof macProof
}

var (
	algorithms = map[string]algorithm{"sha1": hashSHA1, "sha256": hashSHA256, "sha512": hashSHA512}
	encodings  = map[string]encoding{"hex": inHex, "base64": inBase64}
)

// Limits of names in settings, in bytes: generous for what is in use.
const (
	maxHeaderNameLen = 128
	maxPrefixLen     = 64
)

var (
	errHMACHeader    = errors.New(`setting "header" is missing: the header that holds the signature`)
	errHMACAlgorithm = errors.New(`setting "algorithm" is not sha1, sha256 or sha512`)
	errHMACEncoding  = errors.New(`setting "encoding" is not hex or base64`)
	errHMACPrefix    = fmt.Errorf(`setting "prefix" is not at most %d printable ASCII characters`, maxPrefixLen)
	errHMACTimestamp = errors.New(`settings "timestamp_header" and {timestamp} in "signed" need each other: a time that is not signed proves nothing`)
	errHMACID        = errors.New(`{id} in setting "signed" needs "id_header"`)
)

// planHMAC reads and checks the settings.
func planHMAC(raw json.RawMessage) (hmacPlan, error) {
	var s hmacSettings
	err := decodeSettings(raw, map[string]any{
		"header": &s.Header, "algorithm": &s.Algorithm, "encoding": &s.Encoding, "prefix": &s.Prefix,
		"signed": &s.Signed, "timestamp_header": &s.TimestampHeader, "id_header": &s.IDHeader, "type_header": &s.TypeHeader,
	})
	if err != nil {
		return hmacPlan{}, err
	}
	s.Algorithm, s.Encoding, s.Signed = cmp.Or(s.Algorithm, "sha256"), cmp.Or(s.Encoding, "hex"), cmp.Or(s.Signed, "{body}")
	return s.plan()
}

// planPublic reads and checks the settings of a kind with a public key.
func planPublic(raw json.RawMessage) (hmacPlan, error) {
	var s hmacSettings
	err := decodeSettings(raw, map[string]any{
		"header": &s.Header, "encoding": &s.Encoding, "signed": &s.Signed,
		"timestamp_header": &s.TimestampHeader, "id_header": &s.IDHeader, "type_header": &s.TypeHeader,
	})
	if err != nil {
		return hmacPlan{}, err
	}
	s.Algorithm, s.Encoding, s.Signed = hashSHA256.name, cmp.Or(s.Encoding, inHex.name), cmp.Or(s.Signed, "{body}")
	return s.plan()
}

// plan resolves the choices and checks that they fit together. What is wrong is
// told at once, joined.
func (s hmacSettings) plan() (hmacPlan, error) {
	signed, err := parseTemplate(s.Signed)
	if err != nil {
		err = fmt.Errorf(`setting "signed" %w`, err)
	}
	plan := hmacPlan{s, macProof{
		header: s.Header, prefix: s.Prefix, algorithm: algorithms[s.Algorithm], encoding: encodings[s.Encoding],
		signed: signed, time: signedTime{header: s.TimestampHeader}, idHeader: s.IDHeader,
	}}
	faults := []error{s.checkNames(), err}
	if plan.proof.algorithm.newHash == nil {
		faults = append(faults, errHMACAlgorithm)
	}
	if plan.proof.encoding.decode == nil {
		faults = append(faults, errHMACEncoding)
	}
	if err == nil && signed.has(holeTimestamp) != (s.TimestampHeader != "") {
		faults = append(faults, errHMACTimestamp)
	}
	if err == nil && signed.has(holeID) && s.IDHeader == "" {
		faults = append(faults, errHMACID)
	}
	if err := errors.Join(faults...); err != nil {
		return hmacPlan{}, err
	}
	return plan, nil
}

// checkNames checks the texts that are compared with a request.
func (s hmacSettings) checkNames() error {
	var faults []error
	if s.Header == "" {
		faults = append(faults, errHMACHeader)
	}
	if len(s.Prefix) > maxPrefixLen || strings.ContainsFunc(s.Prefix, func(r rune) bool { return r < ' ' || r > '~' }) {
		faults = append(faults, errHMACPrefix)
	}
	return errors.Join(append(faults, s.checkHeaders())...)
}

// checkHeaders checks that what is named as a header can be one.
func (s hmacSettings) checkHeaders() error {
	for _, named := range []struct{ setting, header string }{
		{"header", s.Header}, {"timestamp_header", s.TimestampHeader}, {"id_header", s.IDHeader}, {"type_header", s.TypeHeader},
	} {
		if named.header != "" && !isHeaderName(named.header) {
			return fmt.Errorf("setting %q is not the name of a header", named.setting)
		}
	}
	return s.checkOpen("Authorization", "Cookie", "Proxy-Authorization")
}

// checkOpen refuses to take an event's id or type from a header that is a
// secret: both are stored, shown and sent on.
func (s hmacSettings) checkOpen(secrets ...string) error {
	for _, named := range []struct{ setting, header string }{{"id_header", s.IDHeader}, {"type_header", s.TypeHeader}} {
		if slices.ContainsFunc(secrets, func(secret string) bool { return named.header != "" && strings.EqualFold(secret, named.header) }) {
			return fmt.Errorf("setting %q is a header that holds a secret", named.setting)
		}
	}
	return nil
}

// isHeaderName tells whether a text is a token of HTTP.
func isHeaderName(name string) bool {
	if len(name) > maxHeaderNameLen {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return true
}
