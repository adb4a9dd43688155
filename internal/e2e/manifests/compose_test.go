package manifests

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// composition is what compose.yaml may say; a field that is not here is refused,
// so that a slip of the pen does not pass for one that has no effect.
type composition struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Image       string                `yaml:"image"`
	Build       string                `yaml:"build"`
	Command     []string              `yaml:"command"`
	Environment map[string]string     `yaml:"environment"`
	Volumes     []string              `yaml:"volumes"`
	Ports       []string              `yaml:"ports"`
	DependsOn   map[string]dependency `yaml:"depends_on"`
	Health      *health               `yaml:"healthcheck"`
	Grace       string                `yaml:"stop_grace_period"`
	Restart     string                `yaml:"restart"`
	Memory      string                `yaml:"mem_limit"`
	Shared      string                `yaml:"shm_size"`
	ReadOnly    bool                  `yaml:"read_only"`
	CapDrop     []string              `yaml:"cap_drop"`
	Security    []string              `yaml:"security_opt"`
}

type dependency struct {
	Condition string `yaml:"condition"`
}

type health struct {
	Test              []string `yaml:"test"`
	Interval, Timeout string
	Retries           int
	Start             string `yaml:"start_period"`
}

func compose(t *testing.T) composition {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(read(t, filepath.Join(root, "deploy", "compose.yaml")))))
	decoder.KnownFields(true)
	var c composition
	if err := decoder.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

var exposed = regexp.MustCompile(`(?m)^EXPOSE (\d+)$`)

// The composition's parts fit one another, the image and the program.
func TestCompose(t *testing.T) {
	t.Parallel()
	c := compose(t)
	server, database := c.Services["rowlock"], c.Services["postgres"]
	for name := range server.Environment {
		if !settings()[name] {
			t.Errorf("rowlock is given %s, which is no setting", name)
		}
	}
	port := defaultPort(t)
	if found := exposed.FindStringSubmatch(read(t, filepath.Join(root, "Dockerfile"))); found == nil || found[1] != port {
		t.Errorf("the image exposes %q, the server listens on %s", found, port)
	}
	if len(server.Ports) != 1 || !strings.HasPrefix(server.Ports[0], "127.0.0.1:") || !strings.HasSuffix(server.Ports[0], ":"+port) {
		t.Errorf("ports %q: want this machine's loopback to the port %s", server.Ports, port)
	}
	if server.DependsOn["postgres"].Condition != "service_healthy" || database.Health == nil || server.Health == nil {
		t.Error("the server does not wait for a database that is healthy, or is not looked at itself")
	}
	if grace, err := time.ParseDuration(server.Grace); err != nil || grace < 45*time.Second {
		t.Errorf("the server has %s to stop, %v: its pause takes 5 s, sends under way up to 20 s, and the rest some more", server.Grace, err)
	}
	for name, s := range c.Services {
		for _, v := range s.Volumes {
			if volume, _, _ := strings.Cut(v, ":"); !slices.Contains(keys(c.Volumes), volume) {
				t.Errorf("%s uses the volume %s, which is not there", name, volume)
			}
		}
	}
}

// The database keeps what it commits, whatever else is tuned.
func TestComposedDatabaseIsDurable(t *testing.T) {
	t.Parallel()
	command := compose(t).Services["postgres"].Command
	if len(command)%2 != 1 || command[0] != "postgres" {
		t.Fatalf("command %q", command)
	}
	for i := 1; i < len(command); i += 2 {
		name, _, ok := strings.Cut(command[i+1], "=")
		if command[i] != "-c" || !ok || slices.Contains([]string{"fsync", "full_page_writes", "synchronous_commit", "autovacuum"}, name) {
			t.Errorf("%s %s", command[i], command[i+1])
		}
	}
}

func keys[V any](m map[string]V) (all []string) {
	for key := range m {
		all = append(all, key)
	}
	return all
}
