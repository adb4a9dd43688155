// Package static holds what browsers load beside pages: the style sheet, the
// scripts, the fonts and the icon, built by static/build and embedded.
//
// Every file is served under an address with a hash of its content, and may be
// kept by browsers for good.
package static

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sync"
)

// prefix begins the address of every file.
const prefix = "/static/"

//go:embed assets
var embedded embed.FS

// library is every file, made ready once, when the first is asked for:
// commands without a server do not pay for it.
var library = sync.OnceValues(load)

// shelf is the embedded files by name and by address.
type shelf struct {
	byName map[string]*file
	byURL  map[string]*file
}

// URL returns the address of a file, such as "/static/app.1f2e3d4c5b6a.css"
// for "app.css". A name that does not exist gives an address that answers 404;
// a test holds that the names in use exist.
func URL(name string) string {
	files, err := library()
	if err != nil {
		return prefix + name
	}
	if f, ok := files.byName[name]; ok {
		return f.url
	}
	return prefix + name
}

// load reads and hashes every file. Style sheets come last, because they name
// the addresses of the others.
func load() (*shelf, error) {
	s := &shelf{byName: map[string]*file{}, byURL: map[string]*file{}}
	var sheets []string
	err := fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case path.Ext(name) == ".css":
			sheets = append(sheets, name)
			return nil
		default:
			return s.add(name, nil)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read embedded files: %w", err)
	}
	for _, name := range sheets {
		if err := s.add(name, s.resolve); err != nil {
			return nil, fmt.Errorf("read embedded style sheet: %w", err)
		}
	}
	return s, nil
}

// add puts one file on the shelf, its content changed by rewrite if there is
// one.
func (s *shelf) add(name string, rewrite func([]byte) []byte) error {
	body, err := embedded.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if rewrite != nil {
		body = rewrite(body)
	}
	f, err := newFile(name[len("assets/"):], body)
	if err != nil {
		return fmt.Errorf("prepare %s: %w", name, err)
	}
	s.byName[f.name], s.byURL[f.url] = f, f
	return nil
}
