package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// helmVariable names the program that renders the chart; make test sets it.
const helmVariable = "ROWLOCK_TEST_HELM"

// kubeVersion is the cluster's that the chart is rendered for.
const kubeVersion = "1.34.0"

// values are what operators may set, by what they are after.
var values = map[string]string{
	"least": ``,
	"most": `
ingress: {enabled: true, className: nginx, tlsSecret: hooks-tls, annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 17m}}
metrics: {enabled: true, serviceMonitor: {enabled: true, labels: {release: prometheus}}}
networkPolicy: {enabled: true, metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}
settings: {ROWLOCK_TRUSTED_PROXIES: 10.0.0.0/8, ROWLOCK_WORKERS: 128, ROWLOCK_SIGNUP: invite}
image: {repository: registry.example.com/rowlock, tag: 1.2.3, pullSecrets: [registry]}
podLabels: {team: hooks}
podAnnotations: {note: "yes"}
serviceAccountName: rowlock
priorityClassName: high
nodeSelector: {disk: ssd}
tolerations: [{key: hooks, operator: Exists}]
affinity: {nodeAffinity: {}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
`,
	"split": `
ingress: {enabled: true}
metrics: {enabled: true}
settings: {ROWLOCK_MAX_BODY: 2097152, ROWLOCK_KEY_EVENTS_PER_SECOND: 10, ROWLOCK_WORKERS: 128}
fleets:
  all: null
  front: {roles: [web, api], replicas: 2}
  ingest: {roles: [ingest], autoscaling: {enabled: true, maxReplicas: 8}}
  worker: {roles: [worker], replicas: 1, settings: {ROWLOCK_WORKERS: 512, ROWLOCK_KEY_EVENTS_PER_SECOND: 0}}
`,
	"without a job": `
migrations: {job: false}
podDisruptionBudget: {enabled: false}
fleets: {all: {replicas: 0}}
`,
}

// required is what every operator sets.
var required = []string{"--set", "baseURL=https://hooks.example.com,existingSecret=rowlock-secrets"}

func TestChart(t *testing.T) {
	t.Parallel()
	for name, text := range values {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "values.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"--values", file}, required...)
			if out, err := helm(t, "lint", append([]string{"--strict", "--quiet"}, args...)...); err != nil {
				t.Errorf("helm lint: %v\n%s", err, out)
			}
			out, err := helm(t, "template", args...)
			if err != nil {
				t.Fatalf("helm template: %v\n%s", err, out)
			}
			r := parse(t, out)
			r.isWhole()
			r.podsAreSound()
			r.leadsToPods()
			switch name {
			case "least":
				r.wantKinds("Deployment 1", "Job 1", "PodDisruptionBudget 1", "Service 1")
			case "most":
				r.wantKinds("Deployment 1", "Ingress 1", "Job 1", "NetworkPolicy 1", "PodDisruptionBudget 1", "Service 2", "ServiceMonitor 1")
			case "split":
				r.wantKinds("Deployment 3", "HorizontalPodAutoscaler 1", "Ingress 1", "Job 1", "PodDisruptionBudget 2", "Service 3")
				r.wantEnv("rl-rowlock-worker", "ROWLOCK_WORKERS", "512")
				r.wantEnv("rl-rowlock-worker", "ROWLOCK_KEY_EVENTS_PER_SECOND", "0")
				r.wantEnv("rl-rowlock-worker", "ROWLOCK_MAX_BODY", "2097152")
				r.wantEnv("rl-rowlock-front", "ROWLOCK_WORKERS", "128")
			default:
				r.wantKinds("Deployment 1", "Service 1")
				r.wantEnv("rl-rowlock-all", "ROWLOCK_AUTO_MIGRATE", "true")
			}
		})
	}
}

// What cannot work is refused, with why.
func TestChartRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  string
		says string
	}{
		"no address":           {"baseURL=", "baseURL"},
		"an address with path": {"baseURL=https://a.example/b", "baseURL"},
		"no secret":            {"existingSecret=", "existingSecret"},
		"a word that is none":  {"replicas=3", "replicas"},
		"a secret in settings": {"settings.ROWLOCK_MASTER_KEY=x", "ROWLOCK_MASTER_KEY"},
		"its own setting":      {"settings.ROWLOCK_LISTEN=:80", "ROWLOCK_LISTEN"},
		"no worker":            {"fleets.all.roles={web,api,ingest}", "nothing would be delivered"},
		"ingest twice":         {"fleets.more.roles={ingest}", "the role ingest belongs to one fleet, and 2 have it"},
		"nobody serves pages":  {"fleets.all.roles={api,ingest,worker}", "the role web belongs to one fleet, and 0 have it"},
		"a role that is none":  {"fleets.all.roles={cook}", "roles"},
		"too little time":      {"terminationGracePeriodSeconds=10", "terminationGracePeriodSeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := helm(t, "template", append(slices.Clone(required), "--set", c.set)...)
			if err == nil || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, want %q in:\n%s", err, c.says, out)
			}
		})
	}
}

// The chart's rules for Prometheus are those of deploy/prometheus.
func TestChartAlerts(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(root, "deploy", "prometheus", "alerts.yaml")
	out, err := helm(t, "template", append(slices.Clone(required), "--set", "metrics.prometheusRule.enabled=true")...)
	if err != nil {
		t.Fatalf("helm template: %v\n%s", err, out)
	}
	var want any
	if err := yaml.Unmarshal([]byte(read(t, rules)), &want); err != nil {
		t.Fatal(err)
	}
	for _, o := range parse(t, out).objects {
		if o.Kind == "PrometheusRule" && asJSON(t, o.Spec) == asJSON(t, want) {
			return
		}
	}
	t.Error("the chart has other rules: deploy/helm/rowlock/alerts.yaml has to be a link to ../../prometheus/alerts.yaml")
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// helm runs a command on the chart and returns what it prints; with what it tells on
// standard error where it fails.
func helm(t *testing.T, verb string, args ...string) ([]byte, error) {
	t.Helper()
	program := os.Getenv(helmVariable)
	if program == "" {
		var err error
		if program, err = exec.LookPath("helm"); err != nil {
			t.Skipf("this machine has no helm: make test builds one and names it in %s", helmVariable)
		}
	}
	full := []string{verb}
	if verb == "template" {
		full = append(full, "rl")
	}
	full = append(append(full, filepath.Join(root, "deploy", "helm", "rowlock"), "--kube-version", kubeVersion), args...)
	cmd := exec.CommandContext(t.Context(), program, full...)
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(), "HELM_DATA_HOME="+t.TempDir())
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		out = append(out, told.Bytes()...)
	}
	return out, err
}

// object is one of Kubernetes, as far as tests read it.
type object struct {
	Version  string         `yaml:"apiVersion"`
	Kind     string         `yaml:"kind"`
	Metadata metadata       `yaml:"metadata"`
	Spec     map[string]any `yaml:"spec"`
}

type metadata struct {
	Name        string            `yaml:"name"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// pods is what a Deployment's or a Job's spec says of its pods.
type pods struct {
	Template struct {
		Metadata metadata `yaml:"metadata"`
		Spec     pod      `yaml:"spec"`
	} `yaml:"template"`
	Selector struct {
		Labels map[string]string `yaml:"matchLabels"`
	} `yaml:"selector"`
}

type pod struct {
	Token      *bool       `yaml:"automountServiceAccountToken"`
	Links      *bool       `yaml:"enableServiceLinks"`
	Grace      int         `yaml:"terminationGracePeriodSeconds"`
	Security   podSecurity `yaml:"securityContext"`
	Containers []container `yaml:"containers"`
}

type podSecurity struct {
	NonRoot bool `yaml:"runAsNonRoot"`
	User    int  `yaml:"runAsUser"`
	Seccomp struct {
		Type string `yaml:"type"`
	} `yaml:"seccompProfile"`
}

type container struct {
	Image    string   `yaml:"image"`
	Args     []string `yaml:"args"`
	Security struct {
		Escalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnly   bool  `yaml:"readOnlyRootFilesystem"`
		Caps       struct {
			Drop []string `yaml:"drop"`
		} `yaml:"capabilities"`
	} `yaml:"securityContext"`
	Env []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
		From  struct {
			Secret struct{ Name, Key string } `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	} `yaml:"env"`
	Ports []struct {
		Name string `yaml:"name"`
		Port int    `yaml:"containerPort"`
	} `yaml:"ports"`
	Ready     *probe `yaml:"readinessProbe"`
	Live      *probe `yaml:"livenessProbe"`
	Startup   *probe `yaml:"startupProbe"`
	Lifecycle struct {
		PreStop struct {
			Sleep struct {
				Seconds int `yaml:"seconds"`
			} `yaml:"sleep"`
		} `yaml:"preStop"`
	} `yaml:"lifecycle"`
}

type probe struct {
	Get struct {
		Path string `yaml:"path"`
		Port string `yaml:"port"`
	} `yaml:"httpGet"`
}

// release is what a chart makes.
type release struct {
	t       *testing.T
	objects []object
	// pods are of Deployments and Jobs, by their names.
	pods map[string]pods
}

// parse reads what helm template prints.
func parse(t *testing.T, text []byte) *release {
	t.Helper()
	r := &release{t: t, pods: map[string]pods{}}
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return r
		}
		var o object
		if err == nil {
			err = node.Decode(&o)
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if o.Kind == "" {
			continue // a template that left everything out
		}
		r.objects = append(r.objects, o)
		if o.Kind == "Deployment" || o.Kind == "Job" {
			var held struct {
				Spec pods `yaml:"spec"`
			}
			if err := node.Decode(&held); err != nil {
				t.Fatal(err)
			}
			r.pods[o.Metadata.Name] = held.Spec
		}
	}
}

func (r *release) wantKinds(want ...string) {
	r.t.Helper()
	counts := map[string]int{}
	for _, o := range r.objects {
		counts[o.Kind]++
	}
	var got []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		got = append(got, fmt.Sprintf("%s %d", kind, counts[kind]))
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("the chart makes %q, want %q", got, want)
	}
}

func (r *release) wantEnv(workload, name, want string) {
	r.t.Helper()
	for _, e := range r.pods[workload].Template.Spec.Containers[0].Env {
		if e.Name == name && e.Value == want {
			return
		}
	}
	r.t.Errorf("%s has not %s=%s", workload, name, want)
}

// isWhole checks what holds for every object.
func (r *release) isWhole() {
	r.t.Helper()
	seen := map[string]bool{}
	for _, o := range r.objects {
		id := o.Kind + " " + o.Metadata.Name
		if seen[id] || o.Version == "" || len(o.Metadata.Name) > 63 || !strings.HasPrefix(o.Metadata.Name, "rl-rowlock") || o.Metadata.Labels["app.kubernetes.io/instance"] != "rl" {
			r.t.Errorf("%s is there twice, or lacks its version, its name or its labels", id)
		}
		seen[id] = true
	}
}

// podsAreSound checks what holds for every pod: confined, with settings that are
// there, secrets by reference, and time to end.
func (r *release) podsAreSound() {
	r.t.Helper()
	for name, p := range r.pods {
		spec := p.Template.Spec
		c := spec.Containers[0]
		if spec.Token == nil || *spec.Token || spec.Links == nil || *spec.Links || !spec.Security.NonRoot || spec.Security.User != 65532 || spec.Security.Seccomp.Type != "RuntimeDefault" ||
			c.Security.Escalation == nil || *c.Security.Escalation || !c.Security.ReadOnly || !slices.Equal(c.Security.Caps.Drop, []string{"ALL"}) {
			r.t.Errorf("%s is not confined: %+v", name, spec)
		}
		r.settingsAreSound(name, c)
		if c.Args[0] == "migrate" {
			continue
		}
		if spec.Grace < c.Lifecycle.PreStop.Sleep.Seconds+30 || c.Lifecycle.PreStop.Sleep.Seconds == 0 {
			r.t.Errorf("%s has %d s to end, %d of them in its pause", name, spec.Grace, c.Lifecycle.PreStop.Sleep.Seconds)
		}
		if c.Ready == nil || c.Live == nil || c.Startup == nil || c.Ready.Get.Path != "/readyz" || c.Live.Get.Path != "/healthz" || c.Startup.Get.Path != "/healthz" {
			r.t.Errorf("%s is probed by %+v, %+v, %+v", name, c.Startup, c.Live, c.Ready)
		}
	}
}

func (r *release) settingsAreSound(name string, c container) {
	r.t.Helper()
	listens := map[string]string{}
	var secrets []string
	seen := map[string]bool{}
	for _, e := range c.Env {
		if !settings()[e.Name] || seen[e.Name] {
			r.t.Errorf("%s is given %s, which is no setting, or is given twice", name, e.Name)
		}
		seen[e.Name] = true
		listens[e.Name] = e.Value
		if e.From.Secret.Name != "" {
			secrets = append(secrets, e.Name)
			if e.From.Secret.Name != "rowlock-secrets" || e.From.Secret.Key != e.Name {
				r.t.Errorf("%s gets %s from %+v", name, e.Name, e.From.Secret)
			}
		}
	}
	if !slices.Contains(secrets, "ROWLOCK_DATABASE_URL") || !slices.Contains(secrets, "ROWLOCK_MASTER_KEY") {
		r.t.Errorf("%s has the secrets %q", name, secrets)
	}
	for _, p := range c.Ports {
		setting := map[string]string{"http": "ROWLOCK_LISTEN", "metrics": "ROWLOCK_METRICS_LISTEN"}[p.Name]
		if listens[setting] != fmt.Sprintf(":%d", p.Port) {
			r.t.Errorf("%s has the port %s %d and %s=%s", name, p.Name, p.Port, setting, listens[setting])
		}
	}
}

// leadsToPods checks that what the ingress and the services name is there: each way
// in leads to pods that have its role.
func (r *release) leadsToPods() {
	r.t.Helper()
	for name, p := range r.pods {
		for key, value := range p.Selector.Labels {
			if p.Template.Metadata.Labels[key] != value {
				r.t.Errorf("%s selects pods that are not its own", name)
			}
		}
	}
	for _, o := range r.objects {
		if o.Kind != "Ingress" {
			continue
		}
		rules := o.Spec["rules"].([]any)[0].(map[string]any)
		if rules["host"] != "hooks.example.com" {
			r.t.Errorf("the ingress is of %v", rules["host"])
		}
		for _, path := range rules["http"].(map[string]any)["paths"].([]any) {
			r.leads(path.(map[string]any))
		}
	}
}

// leads follows a path of the ingress to its pods.
func (r *release) leads(path map[string]any) {
	r.t.Helper()
	role := map[string]string{"/": "web", "/api": "api", "/ingest": "ingest"}[path["path"].(string)]
	to := path["backend"].(map[string]any)["service"].(map[string]any)["name"].(string)
	for _, o := range r.objects {
		if o.Kind != "Service" || o.Metadata.Name != to {
			continue
		}
		selector := o.Spec["selector"].(map[string]any)
		for _, p := range r.pods {
			args := p.Template.Spec.Containers[0].Args
			if p.Template.Metadata.Labels["app.kubernetes.io/component"] == selector["app.kubernetes.io/component"] &&
				slices.Contains(strings.Split(args[len(args)-1], ","), role) {
				return
			}
		}
	}
	r.t.Errorf("%v leads to no pod with the role %s", path["path"], role)
}
