package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// hashLength is how many hexadecimal digits of a file's SHA-256 stand in its
// address: 48 bits tell versions of one file apart.
const hashLength = 12

// contentTypes are the kinds of files there are. Go's own table depends on the
// machine.
var contentTypes = map[string]string{
	".css":   "text/css; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

// cssURL finds the files that a style sheet names; data: addresses have a
// colon and do not match.
var cssURL = regexp.MustCompile(`url\(["']?([A-Za-z0-9_./-]+)["']?\)`)

// file is one embedded file, ready to be sent.
type file struct {
	name, url, contentType string
	body                   []byte
	// gzipped is the body compressed; nil where that gains nothing.
	gzipped []byte
}

// newFile hashes and compresses a file.
func newFile(name string, body []byte) (*file, error) {
	ext := path.Ext(name)
	contentType, ok := contentTypes[ext]
	if !ok {
		return nil, fmt.Errorf("no content type for %q", ext)
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])[:hashLength]
	f := &file{
		name:        name,
		url:         prefix + strings.TrimSuffix(name, ext) + "." + hash + ext,
		contentType: contentType,
		body:        body,
	}
	if ext == ".woff2" { // compressed already
		return f, nil
	}
	var err error
	if f.gzipped, err = compress(body); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return f, nil
}

// compress makes the smallest gzip stream of a file.
func compress(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("make writer: %w", err)
	}
	if _, err := w.Write(body); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("close: %w", err)
	}
	return out.Bytes(), nil
}

// resolve puts the addresses of files into a style sheet, for their names.
func (s *shelf) resolve(sheet []byte) []byte {
	return cssURL.ReplaceAllFunc(sheet, func(match []byte) []byte {
		f, ok := s.byName[string(cssURL.FindSubmatch(match)[1])]
		if !ok {
			return match
		}
		return []byte("url(" + f.url + ")")
	})
}
