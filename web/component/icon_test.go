package component_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/web/component"
)

// iconUse finds icons that are named in components, layouts and pages.
var iconUse = regexp.MustCompile(`(?:\bIcon\(|\bIcon(?:After)?: ?)"([a-z0-9-]+)"`)

func TestEveryIconInUseIsBuiltIn(t *testing.T) {
	t.Parallel()
	uses := 0
	for _, root := range []string{"..", "../../internal/server/dashboard"} {
		err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_templ.go") {
				return err
			}
			if ext := path.Ext(name); ext != ".go" && ext != ".templ" {
				return nil
			}
			source, err := os.ReadFile(path.Join(root, name))
			if err != nil {
				return err
			}
			for _, match := range iconUse.FindAllSubmatch(source, -1) {
				uses++
				if icon := string(match[1]); !component.HasIcon(icon) {
					t.Errorf("%s: no icon %q: add it to static/build/lists.mjs and run make generate", path.Join(root, name), icon)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("walk %s: %v", root, err)
		}
	}
	if uses < 20 {
		t.Errorf("found %d uses of icons: the pattern has gone stale", uses)
	}
}

func TestIcon(t *testing.T) {
	t.Parallel()
	svg := one(t, render(t, component.Icon("check", "icon-sm", `"><script>`)), "svg")
	if attr(svg, "aria-hidden") != "true" || !svg.HasClass("icon") || !svg.HasClass("icon-sm") || svg.Children().Length() == 0 {
		t.Errorf("icon is %s", markup(t, component.Icon("check", "icon-sm")))
	}
	if markup(t, component.Icon("no-such-icon")) != markup(t, component.Icon("circle-help")) {
		t.Error("an unknown icon is not the question mark")
	}
}

func TestBrand(t *testing.T) {
	t.Parallel()
	if one(t, render(t, component.Brand("stripe")), "svg").HasClass("icon") {
		t.Error("Stripe has no mark of its own")
	}
	for kind, icon := range map[string]string{
		"standard_webhooks": "webhook", "hmac": "key-round", "none": "lock-open", "api": "terminal",
	} {
		if markup(t, component.Brand(kind)) != markup(t, component.Icon(icon)) {
			t.Errorf("the mark of %q is not the icon %q", kind, icon)
		}
	}
	for kind, letters := range map[string]string{"microsoft_graph": "MG", "new": "N", "": "?", "<b>&": "B"} {
		svg := one(t, render(t, component.Brand(kind)), "svg")
		if text(svg) != letters || attr(svg, "aria-hidden") != "true" {
			t.Errorf("the mark of %q is %q, want %q", kind, text(svg), letters)
		}
	}
}

func TestAvatar(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Mara Lindqvist": "ML", "łukasz": "Ł", "Anna van der Berg": "AB", "": "?", "\u202e\x00": "?", "<b>x</b>": "BB", "株式 会社": "株会",
	} {
		el := one(t, render(t, component.Avatar(name)), ".avatar")
		if text(el) != want {
			t.Errorf("initials of %q are %q, want %q", name, text(el), want)
		}
	}
	first, again := markup(t, component.Avatar("Mara")), markup(t, component.Avatar("Mara"))
	if first != again {
		t.Error("a name's colour changes")
	}
}
