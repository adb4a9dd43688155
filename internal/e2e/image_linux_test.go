package e2e

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	dockerfile = "../../Dockerfile"
	// trustedRoots is where Go looks for authorities, first of all.
	trustedRoots = "etc/ssl/certs/ca-certificates.crt"
	// manyRoots is less than any collection of public authorities has.
	manyRoots = 50
)

// The last stage of the Dockerfile, put together by hand and run as a root file
// system with its user and nothing else: it serves, delivers to who has a
// certificate that the image's authorities vouch for, knows time zones, and can
// write to its data directory alone.
func TestImage(t *testing.T) {
	t.Parallel()
	if instrumented() {
		t.Skip("with the race detector the program needs a C library, which the image has not")
	}
	i := readImage(t)
	r := newReceiver(t, func() time.Duration { return 0 })
	far := httptest.NewTLSServer(r)
	t.Cleanup(far.Close)
	root := i.assemble(t)
	trust(t, filepath.Join(root, trustedRoots), far.Certificate().Raw)
	i.wantWritable(t, root, "data")

	n := &node{t: t}
	var addresses []string
	n.url, addresses = ownAddresses(t)
	n.environ = slices.Concat(onDatabase(t, newDatabase(t, shared)), addresses, []string{"TZ=Asia/Tokyo"})
	n.program = startCommand(t, i.command(t, root, n.environ, i.arguments...))
	n.untilReady()
	if out, err := i.command(t, root, n.environ, "doctor", "--ready").CombinedOutput(); err != nil || string(out) != "ready\n" {
		t.Errorf("doctor --ready: %v, %s", err, out)
	}
	a := newAccount(t, n)
	want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints", fmt.Sprintf(`{"url":%q,"secret":%q}`, far.URL+everything, r.secret))
	sent := want[eventObject](t, a, http.StatusAccepted, http.MethodPost, "/events", `{"type":"order.created","data":{"order":42}}`)
	waitFor(t, patience, "it is delivered over TLS", func() bool { return r.got(place{everything, sent.ID}) })
	n.signal(syscall.SIGTERM)
	n.wantExit(endLimit)
	if log, err := os.ReadFile(n.log); err != nil || !bytes.Contains(log, []byte("+09:00")) {
		t.Errorf("the log is not in the zone of TZ: %v\n%s", err, log)
	}
	if out, err := i.command(t, root, n.environ, "doctor", "--ready").CombinedOutput(); err == nil || !strings.Contains(string(out), "no Rowlock answers") {
		t.Errorf("doctor --ready after the end: %v, %s", err, out)
	}
	i.wantWritable(t, root, "data") // it has made nothing anywhere else
}

// image is what the Dockerfile's last stage says.
type image struct {
	copies     []copied
	uid, gid   int
	environ    []string
	entrypoint string
	arguments  []string
}

// copied is one COPY: from the stage that builds, to a place, and whether it is
// given to the image's user.
type copied struct {
	from, to string
	given    bool
}

func readImage(t *testing.T) image {
	t.Helper()
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	stage := string(text)[strings.LastIndex(string(text), "\nFROM ")+1:]
	var i image
	for line := range strings.Lines(stage) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "FROM":
			if rest != "scratch" {
				t.Fatalf("the image begins with %q, which is not known here", rest)
			}
		case "COPY":
			i.copies = append(i.copies, readCopy(t, rest))
		case "USER":
			user, group, _ := strings.Cut(rest, ":")
			i.uid, _ = strconv.Atoi(user) // a name would be none in this image, and is zero
			i.gid, _ = strconv.Atoi(group)
		case "ENV":
			i.environ = append(i.environ, rest)
		case "ENTRYPOINT":
			i.entrypoint = readWords(t, rest)[0]
		case "CMD":
			i.arguments = readWords(t, rest)
		case "EXPOSE", "":
		default:
			t.Fatalf("the image has a line that is not known here: %s", line)
		}
	}
	if i.uid == 0 || i.gid == 0 || i.entrypoint == "" || len(i.arguments) == 0 {
		t.Fatalf("the image runs as root, or nothing: %+v", i)
	}
	return i
}

func readCopy(t *testing.T, line string) (c copied) {
	t.Helper()
	words := strings.Fields(line)
	for len(words) > 2 {
		switch {
		case words[0] == "--from=build":
		case strings.HasPrefix(words[0], "--chown="):
			c.given = true
		default:
			t.Fatalf("COPY %s: the flag is not known here", line)
		}
		words = words[1:]
	}
	c.from, c.to = words[0], words[1]
	return c
}

func readWords(t *testing.T, list string) (words []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(list), &words); err != nil || len(words) == 0 {
		t.Fatalf("%s: %v", list, err)
	}
	return words
}

// assemble makes the root file system. What the first stage builds is the program
// under test; what it takes from its own system is this machine's.
func (i image) assemble(t *testing.T) string {
	t.Helper()
	root, err := openDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	for _, c := range i.copies {
		to := filepath.Join(root, c.to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		switch c.from {
		case "/out/rowlock":
			err = os.Link(binary, to) // both are in the same temporary directory
		case "/out/data":
			err = os.Mkdir(to, 0o755)
		default:
			err = copyFile(c.from, to)
		}
		if err == nil && c.given && os.Getuid() == 0 {
			err = os.Chown(to, i.uid, i.gid)
		}
		if err != nil {
			t.Fatalf("COPY %s %s: %v", c.from, c.to, err)
		}
	}
	return root
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644) //nolint:gosec // as in the image
}

// trust adds an authority to those of the image, of which there are many.
func trust(t *testing.T, file string, certificate []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("BEGIN CERTIFICATE")); n < manyRoots {
		t.Errorf("the image trusts %d authorities", n)
	}
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})...)
	if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // as in the image
		t.Fatal(err)
	}
}

// wantWritable checks which places below the root the image's user may write to,
// by who owns them and by their modes.
func (i image) wantWritable(t *testing.T, root string, want ...string) {
	t.Helper()
	var got []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t).Uid
		if os.Getuid() != 0 { // everything is ours: what is given away is the data directory
			owner = 0
			if slices.ContainsFunc(i.copies, func(c copied) bool { return c.given && filepath.Join(root, c.to) == path }) {
				owner = uint32(i.uid) //nolint:gosec // an id has 32 bits
			}
		}
		if mode := info.Mode().Perm(); mode&0o002 != 0 || int(owner) == i.uid && mode&0o200 != 0 {
			below, _ := filepath.Rel(root, path) // it is below
			got = append(got, below)
		}
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the user of the image may write to %q, %v, want %q", got, err, want)
	}
}

// command runs the image's program inside of the root file system: as root by
// changing to it, else in a user namespace in which this user is the image's.
func (i image) command(t *testing.T, root string, environ []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), i.entrypoint, args...)
	cmd.Dir, cmd.Env = "/", slices.Concat(i.environ, environ)
	attributes := childAttributes()
	attributes.Chroot = root
	if os.Getuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: uint32(i.uid), Gid: uint32(i.gid)} //nolint:gosec // ids have 32 bits
	} else {
		attributes.Cloneflags = syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: i.uid, HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: i.gid, HostID: os.Getgid(), Size: 1}}
	}
	cmd.SysProcAttr = attributes
	return cmd
}
