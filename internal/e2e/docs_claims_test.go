package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/web/docs"
)

const (
	// later is how the documented programs end when they should be tried again.
	later = 75
	// atOnce is how many of one program are started together.
	atOnce = 4
)

// tongue is how the programs of one language are run: what has to be on the
// machine, how a program is built, if it is, and how it is started.
type tongue struct {
	ending string
	needs  []string
	start  func(t *testing.T, file string) []string
}

var tongues = map[string]tongue{
	"bash":   {"sh", []string{"bash", "curl", "jq", "openssl"}, func(_ *testing.T, file string) []string { return []string{"bash", file} }},
	"go":     {"go", []string{"go"}, buildExample},
	"js":     {"mjs", []string{"node"}, func(_ *testing.T, file string) []string { return []string{"node", file} }},
	"python": {"py", []string{"python3"}, func(_ *testing.T, file string) []string { return []string{"python3", file} }},
}

// buildExample builds a program of one file.
func buildExample(t *testing.T, file string) []string {
	t.Helper()
	built := strings.TrimSuffix(file, ".go")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", built, file)
	cmd.Dir, cmd.Env = filepath.Dir(file), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", file, err, out)
	}
	return []string{built}
}

// The programs that the documentation of claims shows, in each language that is
// on the machine, against a server: what is run here is cut out of the page.
func TestDocumentedClaims(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	a := newAccount(t, n)
	for language, spoken := range tongues {
		for name, example := range documented {
			t.Run(language+"/"+name, func(t *testing.T) {
				t.Parallel()
				for _, program := range spoken.needs {
					if _, err := exec.LookPath(program); err != nil {
						t.Skipf("the programs in %s are not run: this machine has no %s", language, program)
					}
				}
				file := filepath.Join(t.TempDir(), name+"."+spoken.ending)
				if err := os.WriteFile(file, []byte(docs.Example("claims", filepath.Base(file)).Text), 0o600); err != nil {
					t.Fatal(err)
				}
				x := &exampleRun{documentedProgram: example, t: t, account: a, command: spoken.start(t, file), prefix: language, far: newExampleFarSide(t)}
				x.keepsItsPromises()
			})
		}
	}
}

// documented are the page's programs by the names of their files.
var documented = map[string]documentedProgram{
	"welcome": {scope: "welcome-mail", refusal: http.StatusInternalServerError, refused: later, mails: true},
	"charge":  {scope: "charge", refusal: http.StatusPaymentRequired, refused: 1},
}

// documentedProgram is one program, in whatever language.
type documentedProgram struct {
	scope string
	// refusal is an answer of the far side that is a clear no, and refused how
	// the program ends then.
	refusal, refused int
	// mails tells that an address follows the key.
	mails bool
}

// exampleRun is a program with the services around it.
type exampleRun struct {
	documentedProgram

	t       *testing.T
	account *account
	command []string
	// prefix begins its keys, which no other run has.
	prefix string
	far    *exampleFarSide
}

// exampleEnd is how a program ended.
type exampleEnd struct {
	code        int
	out, errors string
}

// key is a key of its own for each thing that is shown.
func (x *exampleRun) key(of string) string { return x.prefix + "-" + of }

// run runs the program to its end, with Rowlock at an address.
func (x *exampleRun) run(server, key string) exampleEnd {
	args := append(slices.Clone(x.command[1:]), key)
	if x.mails {
		args = append(args, key+mailDomain)
	}
	cmd := exec.CommandContext(x.t.Context(), x.command[0], args...)
	cmd.Env = append(os.Environ(), "ROWLOCK_SERVER="+server, "ROWLOCK_API_KEY="+x.account.Key,
		"MAIL_API="+x.far.url, "MAIL_TOKEN=m", "SHOP_API="+x.far.url, "PAY_API="+x.far.url, "PAY_TOKEN=p")
	cmd.SysProcAttr = childAttributes()
	var out, told strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &told
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		x.t.Errorf("run %v: %v", x.command, err)
	} else if ok {
		return exampleEnd{exit.ExitCode(), out.String(), told.String()}
	}
	return exampleEnd{0, out.String(), told.String()}
}

// wantRun runs the program, and fails unless it ends so.
func (x *exampleRun) wantRun(what, key string, code int) exampleEnd {
	x.t.Helper()
	end := x.run(x.account.node.url, key)
	if end.code != code {
		x.t.Fatalf("%s: it ended with %d, want %d: %s%s", what, end.code, code, end.out, end.errors)
	}
	return end
}

// wantDone fails unless the effect of a key happened this often.
func (x *exampleRun) wantDone(what, key string, times int) {
	x.t.Helper()
	if got := x.far.done(key); got != times {
		x.t.Errorf("%s: it was done %d times, want %d", what, got, times)
	}
}

// claim is the key's claim, as the ledger has it.
func (x *exampleRun) claim(key string) claimObject {
	x.t.Helper()
	found := list[claimObject](x.t, x.account, "/claims", "scope="+x.scope+"&key="+key)
	if len(found) != 1 {
		x.t.Fatalf("%d claims of %s", len(found), key)
	}
	return found[0]
}

// keepsItsPromises shows what the page says of the program.
func (x *exampleRun) keepsItsPromises() {
	x.t.Helper()
	x.twice()
	x.together()
	x.meeting()
	x.refusedFirst()
	x.answerLost()
	x.noLedger()
	x.ledgerGoneAtTheEnd()
	x.answerInWords()
	x.freedAtWork()
	if !x.mails {
		x.outpaced()
		x.inDoubt(http.StatusBadGateway)
		x.inDoubt(http.StatusConflict)
	}
}

// twice: the second run does nothing, and says what the first did.
func (x *exampleRun) twice() {
	x.t.Helper()
	key := x.key("twice")
	first := x.wantRun("the first run", key, 0)
	second := x.wantRun("the second run", key, 0)
	x.wantDone("run twice", key, 1)
	var one, other any
	if json.Unmarshal([]byte(first.out), &one) != nil || json.Unmarshal([]byte(second.out), &other) != nil || fmt.Sprint(one) != fmt.Sprint(other) ||
		!strings.Contains(second.out, `"id"`) {
		x.t.Errorf("the second run gives back %q, the first said %q", second.out, first.out)
	}
}

// together: of several that begin at once, one does it.
func (x *exampleRun) together() {
	x.t.Helper()
	key := x.key("together")
	var running sync.WaitGroup
	var zeros atomic.Int32
	for range atOnce {
		running.Go(func() {
			end := x.run(x.account.node.url, key)
			if end.code == 0 {
				zeros.Add(1)
			} else if end.code != later {
				x.t.Errorf("one of several ended with %d: %s%s", end.code, end.out, end.errors)
			}
		})
	}
	running.Wait()
	x.wantDone("several at once", key, 1)
	if zeros.Load() == 0 {
		x.t.Error("none of several ended well")
	}
}

// meeting: a second that comes in the middle of the first is sent away.
func (x *exampleRun) meeting() {
	x.t.Helper()
	key := x.key("meeting")
	goOn, first := x.runUntil(key, key)
	x.wantRun("the second, in the middle of the first", key, later)
	close(goOn)
	if end := <-first; end.code != 0 {
		x.t.Errorf("the first, which a second met, ended with %d: %s%s", end.code, end.out, end.errors)
	}
	x.wantDone("two that met", key, 1)
}

// refusedFirst: what was refused gives the claim back, and is tried again.
func (x *exampleRun) refusedFirst() {
	x.t.Helper()
	key := x.key("refused")
	x.far.answerNext(key, x.refusal)
	x.wantRun("the run that is refused", key, x.refused)
	if c := x.claim(key); c.State != "released" {
		x.t.Errorf("after a refusal the claim is %s", c.State)
	}
	x.wantRun("the run after a refusal", key, 0)
	x.wantDone("refused, then done", key, 1)
	if c := x.claim(key); c.State != "done" || c.Fence != 2 {
		x.t.Errorf("in the end the claim is %+v", c)
	}
}

// answerLost: a claim whose answer got lost is asked for again, and is the same.
func (x *exampleRun) answerLost() {
	x.t.Helper()
	key := x.key("lost")
	end := x.run(losingFirst(x.t, x.account.node.url), key)
	if end.code != 0 {
		x.t.Errorf("a run whose first answer got lost ended with %d: %s%s", end.code, end.out, end.errors)
	}
	x.wantDone("an answer lost", key, 1)
	if c := x.claim(key); c.State != "done" || c.Fence != 1 {
		x.t.Errorf("after a lost answer the claim is %+v", c)
	}
}

// noLedger: nothing is done without a claim, and it may be tried again.
func (x *exampleRun) noLedger() {
	x.t.Helper()
	key := x.key("no-ledger")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if end := x.run(gone.URL, key); end.code != later {
		x.t.Errorf("without a ledger it ended with %d: %s%s", end.code, end.out, end.errors)
	}
	x.wantDone("no ledger", key, 0)
}

// ledgerGoneAtTheEnd: what was done and could not be written down is told, and is
// kept from others while the lease lasts.
func (x *exampleRun) ledgerGoneAtTheEnd() {
	x.t.Helper()
	key := x.key("gone")
	end := x.run(losingAll(x.t, x.account.node.url, "/complete"), key)
	if end.code != later || !strings.Contains(end.errors, "eff_1") {
		x.t.Errorf("who could not complete ended with %d: %s%s", end.code, end.out, end.errors)
	}
	x.wantRun("the run after one that could not complete", key, later)
	x.wantDone("a ledger gone at the end", key, 1)
}

// answerInWords: an answer that is no JSON is a result, too.
func (x *exampleRun) answerInWords() {
	x.t.Helper()
	for _, words := range []string{"done", "", "{} {}"} {
		key := x.key("words-" + strconv.Itoa(len(words)))
		x.far.answerInWords(key, words)
		for range 2 {
			var said string
			if end := x.wantRun("the run that is answered in words", key, 0); json.Unmarshal([]byte(end.out), &said) != nil || said != words {
				x.t.Errorf("answered %q, it says %q", words, end.out)
			}
		}
		x.wantDone("answered in words", key, 1)
	}
}

// freedAtWork: who is freed of its claim in the middle of the work cannot complete,
// and tells what it has done.
func (x *exampleRun) freedAtWork() {
	x.t.Helper()
	key := x.key("freed")
	goOn, first := x.runUntil(key, key)
	want[claimObject](x.t, x.account, http.StatusOK, http.MethodPost, "/claims/"+x.claim(key).ID+"/reclaim", `{"reason":"it hangs"}`)
	close(goOn)
	if end := <-first; end.code != 1 || !strings.Contains(end.errors, "eff_1") || !strings.Contains(end.errors, "409") && !strings.Contains(end.errors, "fence_stale") {
		x.t.Errorf("who was freed at work ended with %d: %s%s", end.code, end.out, end.errors)
	}
	if c := x.claim(key); c.State != "released" {
		x.t.Errorf("freed, the claim is %s", c.State)
	}
}

// outpaced: who lost the claim on the way finds out before it does harm.
func (x *exampleRun) outpaced() {
	x.t.Helper()
	key := x.key("outpaced")
	goOn, first := x.runUntil("/orders/"+key, key)
	held := x.claim(key)
	want[claimObject](x.t, x.account, http.StatusOK, http.MethodPost, "/claims/"+held.ID+"/reclaim", `{"reason":"it hangs"}`)
	x.wantRun("the one that took over", key, 0)
	close(goOn)
	if end := <-first; end.code != later || !strings.Contains(end.errors, "409") {
		x.t.Errorf("who was outpaced ended with %d: %s%s", end.code, end.out, end.errors)
	}
	x.wantDone("one outpaced", key, 1)
}

// inDoubt: while nobody knows, the claim is kept.
func (x *exampleRun) inDoubt(answer int) {
	x.t.Helper()
	key := x.key("doubt-" + strconv.Itoa(answer))
	x.far.answerNext(key, answer)
	x.wantRun("the run without a clear answer", key, later)
	x.wantRun("the run while nobody knows", key, later)
	c := x.claim(key)
	if c.State != "in_progress" {
		x.t.Errorf("in doubt the claim is %s", c.State)
	}
	want[claimObject](x.t, x.account, http.StatusOK, http.MethodPost, "/claims/"+c.ID+"/reclaim", `{"reason":"they say it was not charged"}`)
	x.wantRun("the run after that", key, 0)
	x.wantDone("once in doubt", key, 1)
	if keys := x.far.keysOf(key); len(keys) != 2 || keys[0] != c.ID || keys[1] != c.ID {
		x.t.Errorf("the idempotency keys are %v, want twice %s", keys, c.ID)
	}
}

// runUntil runs the program until it has come to a place of the far side, where it
// is held until goOn is closed.
func (x *exampleRun) runUntil(place, key string) (goOn chan<- struct{}, end <-chan exampleEnd) {
	x.t.Helper()
	reached, goOn := x.far.hold(place)
	ended := make(chan exampleEnd, 1)
	go func() { ended <- x.run(x.account.node.url, key) }()
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	select {
	case <-reached:
	case <-ctx.Done():
		x.t.Fatal("the program never came to its work")
	}
	return goOn, ended
}
