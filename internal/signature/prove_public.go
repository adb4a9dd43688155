package signature

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// publicProof proves requests by a signature that only the provider can make,
// with a key whose public half the source has.
type publicProof struct {
	// header holds the signature.
	header   string
	encoding encoding
	scheme   publicScheme
	// key is the text form of public keys.
	key keyForm
	// signed is what is signed; nil is the body.
	signed template
	// timeHeader holds the signed time; "" for none.
	timeHeader string
	unit       timeUnit
	// idHeader holds the id that is signed; "" for none.
	idHeader string
}

// publicScheme is a way of signing with a pair of keys. Keys are bytes: what
// the scheme calls its raw form.
type publicScheme struct {
	name string
	// decode reads a signature; false if it cannot be one.
	decode func(text string, in encoding) ([]byte, bool)
	verify func(key, message, sig []byte) bool
	// check tells whether bytes are a public key.
	check   func(key []byte) error
	newPair func() (public, private []byte)
	sign    func(private, message []byte) ([]byte, error)
}

// keyForm is how a provider writes its public keys.
type keyForm struct {
	words  string
	decode func(text string) ([]byte, error)
	encode func(raw []byte) string
}

var (
	keyHex = keyForm{"hex", hex.DecodeString, hex.EncodeToString}
	// keyBase64 takes the armour of PEM off: people paste keys with it.
	keyBase64 = keyForm{"base64", decodePEMBody, base64.StdEncoding.EncodeToString}
)

var (
	errKeyUnreadable = errors.New("the public key cannot be read")
	errEd25519Size   = fmt.Errorf("the public key is not %d bytes long once decoded", ed25519.PublicKeySize)
	errECDSAKey      = errors.New("the public key is not one of the curve P-256 in the form SPKI")
)

// decodePEMBody reads base64 on one line or several, with or without the lines
// of PEM around it.
func decodePEMBody(text string) ([]byte, error) {
	var body strings.Builder
	for line := range strings.FieldsSeq(strings.NewReplacer("-----BEGIN PUBLIC KEY-----", " ", "-----END PUBLIC KEY-----", " ").Replace(text)) {
		body.WriteString(line)
	}
	return base64.StdEncoding.DecodeString(body.String())
}

// checkKey stores public keys in one form.
func (p publicProof) checkKey(pasted string) (string, error) {
	text := trimPasted(pasted)
	switch {
	case text == "":
		return "", errSecretEmpty
	case len(text) > maxSecretLen:
		return "", errSecretLong
	}
	key, err := p.key.decode(text)
	if err != nil {
		return "", fmt.Errorf("%w: it is not %s", errKeyUnreadable, p.key.words)
	}
	if err := p.scheme.check(key); err != nil {
		return "", err
	}
	return p.key.encode(key), nil
}

func (p publicProof) prove(r Request, settings Settings, secrets []Secret) (proof, error) {
	text, err := signatureHeader(r.Header, p.header)
	if err != nil {
		return proof{}, err
	}
	sent, ok := p.scheme.decode(text, p.encoding)
	if !ok {
		return proof{}, malformed(p.header, fmt.Sprintf("The header %s is not an %s signature in %s.", p.header, p.scheme.name, p.encoding.name))
	}
	values := map[string][]byte{holeBody: r.Body, holeURL: []byte(r.URL)}
	if p.idHeader != "" && p.signed.has(holeID) {
		id, err := signatureHeader(r.Header, p.idHeader)
		if err != nil {
			return proof{}, err
		}
		values[holeID] = []byte(id)
	}
	var at time.Time
	if p.timeHeader != "" {
		var stamp string
		if stamp, at, err = timeHeader(r.Header, p.timeHeader, p.unit); err != nil {
			return proof{}, err
		}
		values[holeTimestamp] = []byte(stamp)
	}
	secret, ok := p.match(secrets, p.message(values), sent)
	if !ok {
		return proof{}, mismatch(p.header, secrets)
	}
	found := proof{secret: secret}
	if p.timeHeader != "" {
		found.skew, err = checkTime(p.timeHeader, at, r, settings)
	}
	return found, err
}

func (p publicProof) message(values map[string][]byte) []byte {
	signed := p.signed
	if signed == nil {
		signed = bodyAlone
	}
	return bytes.Join(signed.fill(values), nil)
}

func (p publicProof) match(secrets []Secret, message, sent []byte) (Secret, bool) {
	for _, secret := range secrets {
		key, err := p.key.decode(string(secret.Value))
		if err != nil || p.scheme.check(key) != nil {
			continue // an unusable key proves nothing
		}
		if p.scheme.verify(key, message, sent) {
			return secret, true
		}
	}
	return Secret{}, false
}

// sign takes a private half that newPair made.
func (p publicProof) sign(r *Request, _ Settings, secret string) error {
	private, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		return fmt.Errorf("read the private key: %w", err)
	}
	values := map[string][]byte{holeBody: r.Body, holeURL: []byte(r.URL)}
	if p.idHeader != "" {
		values[holeID] = []byte(r.Header.Get(p.idHeader))
	}
	if p.timeHeader != "" {
		at := p.unit.format(r.Now)
		r.Header.Set(p.timeHeader, at)
		values[holeTimestamp] = []byte(at)
	}
	sig, err := p.scheme.sign(private, p.message(values))
	if err != nil {
		return err
	}
	r.Header.Set(p.header, p.encoding.encode(sig))
	return nil
}

func (p publicProof) newPair() (public, private string) {
	pub, priv := p.scheme.newPair()
	return p.key.encode(pub), base64.StdEncoding.EncodeToString(priv)
}

var schemeEd25519 = publicScheme{
	name: "Ed25519",
	decode: func(text string, in encoding) ([]byte, bool) {
		return in.decode(text, ed25519.SignatureSize)
	},
	verify: func(key, message, sig []byte) bool { return ed25519.Verify(key, message, sig) },
	check: func(key []byte) error {
		if len(key) != ed25519.PublicKeySize {
			return errEd25519Size
		}
		return nil
	},
	newPair: func() (public, private []byte) {
		public, private, _ = ed25519.GenerateKey(nil) // fails only when its reader does
		return public, private
	},
	sign: func(private, message []byte) ([]byte, error) {
		if len(private) != ed25519.PrivateKeySize {
			return nil, errPrivateSize
		}
		return ed25519.Sign(private, message), nil
	},
}

// maxECDSASize is the longest signature over P-256 in DER.
const maxECDSASize = 72

// schemeECDSA is ECDSA over P-256 and SHA-256: keys as SPKI, signatures as the
// DER of the two numbers.
var schemeECDSA = publicScheme{
	name:   "ECDSA",
	decode: decodeECDSA,
	verify: func(key, message, sig []byte) bool {
		public, err := parseECDSA(key)
		if err != nil {
			return false
		}
		sum := sha256.Sum256(message)
		return ecdsa.VerifyASN1(public, sum[:], sig)
	},
	check: func(key []byte) error {
		_, err := parseECDSA(key)
		return err
	},
	newPair: newECDSAPair,
	sign: func(private, message []byte) ([]byte, error) {
		key, err := x509.ParseECPrivateKey(private)
		if err != nil {
			return nil, fmt.Errorf("read the private key: %w", err)
		}
		sum := sha256.Sum256(message)
		return ecdsa.SignASN1(rand.Reader, key, sum[:])
	},
}

// decodeECDSA reads a signature, whose length varies.
func decodeECDSA(text string, in encoding) ([]byte, bool) {
	var raw []byte
	var err error
	if in.name == inHex.name {
		raw, err = hex.DecodeString(text)
	} else {
		raw, err = strictBase64.DecodeString(text)
	}
	if err != nil || len(raw) > maxECDSASize || strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	var numbers struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(raw, &numbers)
	return raw, err == nil && len(rest) == 0
}

func parseECDSA(spki []byte) (*ecdsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(spki)
	public, ok := parsed.(*ecdsa.PublicKey)
	if err != nil || !ok || public.Curve != elliptic.P256() {
		return nil, errECDSAKey
	}
	return public, nil
}

// newECDSAPair makes a pair. None of the three can fail for P-256.
func newECDSAPair() (public, private []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil
	}
	public, _ = x509.MarshalPKIXPublicKey(&key.PublicKey)
	private, _ = x509.MarshalECPrivateKey(key)
	return public, private
}
