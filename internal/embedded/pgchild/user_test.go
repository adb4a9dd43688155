package pgchild

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	u, err := Choose(filepath.Join(dir, "missing"))
	if err != nil {
		t.Fatalf("Choose() = %v", err)
	}
	if u.UID == 0 || u.Name == "" {
		t.Errorf("Choose() = %+v, want an account other than root", u)
	}
	if root := os.Geteuid() == 0; u.Drop != root || !root && int(u.UID) != os.Geteuid() {
		t.Errorf("Choose() = %+v for user id %d", u, os.Geteuid())
	}
}

// A cluster stays with the account that made it. Only root can give files
// away, and only root has to choose.
func TestChooseTheOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := uint32(os.Geteuid())
	if want == 0 {
		want = 54321
		if err := os.Chown(dir, int(want), int(want)); err != nil {
			t.Fatalf("chown: %v", err)
		}
	}
	u, err := Choose(dir)
	if err != nil || u.UID != want {
		t.Errorf("Choose() = %+v, %v, want user id %d", u, err, want)
	}
	if err := u.CheckOwns(dir); err != nil {
		t.Errorf("CheckOwns() = %v", err)
	}
	if err := (User{UID: want + 1, Name: "other"}).CheckOwns(dir); err == nil {
		t.Error("CheckOwns() by another worked")
	}
}

func TestCheckReach(t *testing.T) {
	t.Parallel()
	uid, gid := uint32(os.Geteuid()), uint32(os.Getegid())
	stranger := User{Name: "stranger", UID: uid + 1, GID: gid + 1, Drop: true}
	member := User{Name: "member", UID: uid + 1, GID: gid, Drop: true}
	self := User{Name: "self", UID: uid, GID: gid, Drop: true}
	tests := map[string]struct {
		mode os.FileMode
		user User
		want bool
	}{
		"private, stranger":           {0o700, stranger, false},
		"private, member":             {0o700, member, false},
		"private, owner":              {0o700, self, true},
		"group, member":               {0o710, member, true},
		"group, stranger":             {0o710, stranger, false},
		"everyone, stranger":          {0o701, stranger, true},
		"readable alone, stranger":    {0o704, stranger, false},
		"everyone but owner, owner":   {0o077, self, false},
		"everyone but group, member":  {0o705, member, false},
		"same user, nothing to check": {0o700, User{Name: "same", UID: uid + 1}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, err := os.MkdirTemp("", "reach-")
			if err != nil {
				t.Fatalf("mkdir: %v", err)
			}
			t.Cleanup(func() { _ = os.Chmod(base, 0o700); _ = os.RemoveAll(base) })
			if err := os.Chmod(base, test.mode); err != nil {
				t.Fatalf("chmod: %v", err)
			}
			path := filepath.Join(base, "data")
			err = test.user.CheckReach(path)
			var unreachable *UnreachableError
			if test.want && err != nil {
				t.Errorf("CheckReach() = %v", err)
			}
			if !test.want && (!errors.As(err, &unreachable) || unreachable.Dir != base || unreachable.Path != path) {
				t.Errorf("CheckReach() = %v, want one that names %s", err, base)
			}
		})
	}
}

// What counts is where a link leads.
func TestCheckReachFollowsLinks(t *testing.T) {
	t.Parallel()
	private, err := os.MkdirTemp("", "reach-")
	if err != nil {
		t.Fatalf("mkdir: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(private) })
	if err := os.Mkdir(filepath.Join(private, "dir"), 0o755); err != nil {
		t.Fatalf("mkdir: %v", err)
	}
	link := private + "-link"
	if err := os.Symlink(filepath.Join(private, "dir"), link); err != nil {
		t.Fatalf("link: %v", err)
	}
	t.Cleanup(func() { _ = os.Remove(link) })
	stranger := User{Name: "stranger", UID: uint32(os.Geteuid()) + 1, GID: uint32(os.Getegid()) + 1, Drop: true}
	var unreachable *UnreachableError
	if err := stranger.CheckReach(filepath.Join(link, "data")); !errors.As(err, &unreachable) || unreachable.Dir != private {
		t.Errorf("CheckReach() = %v, want one that names %s", err, private)
	}
}
