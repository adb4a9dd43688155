package signature

import (
	"encoding/base64"
	"encoding/hex"
)

// decoder decodes the text form of exactly size bytes; anything else is false.
type decoder func(text string, size int) ([]byte, bool)

// encoding is a text form of bytes.
type encoding struct {
	name   string
	decode decoder
	encode func(raw []byte) string
}

var (
	inHex    = encoding{"hex", decodeHex, hex.EncodeToString}
	inBase64 = encoding{"base64", decodeBase64, base64.StdEncoding.EncodeToString}
)

// decodeHex reads hex of either case.
func decodeHex(text string, size int) ([]byte, bool) {
	if len(text) != hex.EncodedLen(size) {
		return nil, false
	}
	raw, err := hex.DecodeString(text)
	return raw, err == nil
}

// strictBase64 refuses bits that no encoder sets, so that a signature has one
// spelling.
var strictBase64 = base64.StdEncoding.Strict()

// decodeBase64 reads standard base64 with padding.
func decodeBase64(text string, size int) ([]byte, bool) {
	if len(text) != strictBase64.EncodedLen(size) {
		return nil, false
	}
	// The decoder skips line breaks: with one inside, the length is wrong.
	raw, err := strictBase64.DecodeString(text)
	return raw, err == nil && len(raw) == size
}
