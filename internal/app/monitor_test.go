package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Every metric, label and value that the dashboard and the alert rules name is
// one that the product shows.
func TestDashboardAndAlertsNameWhatIsShown(t *testing.T) {
	t.Parallel()
	shown := working(t).scrape()
	shown["up"] = family{kind: "gauge"} // Prometheus makes it
	asked := 0
	for at, text := range maps.Collect(expressions(t)) {
		asked++
		for _, problem := range checkExpression(shown, text) {
			t.Errorf("%s: %s in %s", at, problem, text)
		}
	}
	if asked < 50 {
		t.Errorf("only %d expressions were found", asked)
	}
}

// expressions are those of the dashboard and of the rules, by where they stand.
func expressions(t *testing.T) func(yield func(at, text string) bool) {
	t.Helper()
	dashboard, rules := readDashboard(t), readRules(t)
	return func(yield func(at, text string) bool) {
		for _, p := range dashboard {
			for i, target := range p.Targets {
				if !yield(fmt.Sprintf("panel %q, %d", p.Title, i), target.Expr) {
					return
				}
			}
		}
		for _, r := range rules {
			if !yield("alert "+r.Alert, r.Expr) {
				return
			}
		}
	}
}

// panel is a part of the dashboard.
type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct{ Expr, RefID string }
}

func readDashboard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/rowlock.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct{ Panels []panel }
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	return dashboard.Panels
}

// rule is one alert.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func readRules(t *testing.T) (all []rule) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// Every panel has an id and a place of its own, and says what it shows.
func TestDashboardHasAPlaceForEachPanel(t *testing.T) {
	t.Parallel()
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range readDashboard(t) {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %q: id %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("panel %q says or shows nothing", p.Title)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q lies on %q, or beside the page", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// Every alert says how much it matters, what is wrong and what to do.
func TestAlertsSayWhatToDo(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, r := range readRules(t) {
		if r.Alert == "" || names[r.Alert] || r.For == "" || r.Annotations["summary"] == "" || len(r.Annotations["runbook"]) < 100 {
			t.Errorf("%q is not whole, or comes twice", r.Alert)
		}
		if s := r.Labels["severity"]; s != "page" && s != "ticket" {
			t.Errorf("%s is of severity %q", r.Alert, s)
		}
		names[r.Alert] = true
	}
}

// Words of PromQL that these files use. An unknown one is no metric of ours, and
// is complained about.
var (
	promFunctions = []string{"absent", "histogram_quantile", "last_over_time", "rate"}
	promOperators = []string{"and", "max", "min", "offset", "or", "sum", "unless"}
	// targetLabels are added by Prometheus.
	targetLabels = []string{"instance", "job", "le"}
)

var (
	promToken   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\$?[a-zA-Z_:][\w:]*|[0-9.]+[a-z]*|[!=<>]=|[!=]~|\S`)
	promMatcher = regexp.MustCompile(`^([a-zA-Z_]\w*)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"$`)
	promName    = regexp.MustCompile(`^[a-zA-Z_:][\w:]*$`)
)

// checkExpression reads the names in an expression: of functions, of metrics with
// the labels in braces behind them, and of labels that it groups by. It is no
// parser: what it does not know it complains about.
func checkExpression(shown map[string]family, text string) (problems []string) {
	tokens := promToken.FindAllString(text, -1)
	var grouped []string
	known := map[string]bool{}
	for _, l := range targetLabels {
		known[l] = true
	}
	named := 0
	for i := 0; i < len(tokens); i++ {
		word := tokens[i]
		switch {
		case !promName.MatchString(word), slices.Contains(promOperators, word):
		case word == "by", word == "on":
			for i += 2; i < len(tokens) && tokens[i] != ")"; i++ {
				if tokens[i] != "," {
					grouped = append(grouped, tokens[i])
				}
			}
		case i+1 < len(tokens) && tokens[i+1] == "(":
			if !slices.Contains(promFunctions, word) {
				problems = append(problems, "no function "+word)
			}
		default:
			named++
			f, ok := familyOf(shown, word)
			if !ok {
				problems = append(problems, "no metric "+word)
			}
			for label := range f.labels {
				known[label] = true
			}
			if i+1 < len(tokens) && tokens[i+1] == "{" {
				end := i + 2
				for end < len(tokens) && tokens[end] != "}" {
					end++
				}
				problems = append(problems, checkMatchers(f, strings.Join(tokens[i+2:end], ""))...)
				i = end
			}
		}
	}
	for _, label := range grouped {
		if !known[label] {
			problems = append(problems, "no label "+label)
		}
	}
	if named == 0 {
		problems = append(problems, "no metric at all")
	}
	return problems
}

// familyOf finds a metric by the name of one of its series. A histogram has none
// of its own name.
func familyOf(shown map[string]family, series string) (family, bool) {
	if f, ok := shown[series]; ok {
		return f, f.kind != "histogram"
	}
	for _, end := range []string{"_bucket", "_count", "_sum"} {
		if base, cut := strings.CutSuffix(series, end); cut && shown[base].kind == "histogram" {
			return shown[base], true
		}
	}
	return family{}, false
}

// checkMatchers looks whether labels have been seen, and with these values.
func checkMatchers(f family, text string) (problems []string) {
	for matcher := range strings.SplitSeq(text, ",") {
		found := promMatcher.FindStringSubmatch(matcher)
		if found == nil {
			problems = append(problems, "cannot read "+matcher)
			continue
		}
		label, value := found[1], found[3]
		switch {
		case slices.Contains(targetLabels, label):
		case f.labels[label] == nil:
			problems = append(problems, "no label "+label)
		case !f.labels[label][value] && !strings.HasPrefix(value, "$"):
			problems = append(problems, fmt.Sprintf("%s is never %q", label, value))
		}
	}
	return problems
}

// The check finds what is wrong.
func TestExpressionsAreRead(t *testing.T) {
	t.Parallel()
	shown := map[string]family{
		"a_total":   {kind: "counter", labels: map[string]map[string]bool{"via": {"api": true}}},
		"b_seconds": {kind: "histogram", labels: map[string]map[string]bool{"le": {"1": true}, "work": {"accept": true}}},
	}
	for text, want := range map[string]string{
		`sum by (via) (rate(a_total{via="api", instance=~"$instance"}[5m])) > 0.01`: "",
		`histogram_quantile(0.99, sum by (le, work) (rate(b_seconds_bucket[5m])))`:  "",
		`rate(b_seconds_sum[5m]) / rate(b_seconds_count{work="accept"}[5m])`:        "",
		`a_total offset 1h unless on (instance, job) a_total`:                       "",
		`sum(a_totals)`:                   "no metric a_totals",
		`a_total_bucket`:                  "no metric a_total_bucket",
		`b_seconds > 1`:                   "no metric b_seconds",
		`avg(a_total)`:                    "no function avg",
		`a_total{way="api"}`:              "no label way",
		`a_total{via="smoke"}`:            `via is never "smoke"`,
		`sum by (work) (a_total)`:         "no label work",
		`sum by (via, nothing) (a_total)`: "no label nothing",
		`1 + 1`:                           "no metric at all",
	} {
		if got := strings.Join(checkExpression(shown, text), ", "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
