package config_test

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/config"
)

// goodKey is 32 bytes, 0x00 to 0x1f.
const goodKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

func TestLoadDefaults(t *testing.T) {
	t.Parallel()
	got, err := config.Load(nil)
	if err != nil {
		t.Fatalf("Load of nothing: %v", err)
	}
	want := config.Config{
		DataDir: "./data", AutoMigrate: true,
		Listen: ":8080", BaseURL: "http://localhost:8080", DrainPause: 5 * time.Second, MetricsListen: "127.0.0.1:9090",
		Signup:    config.SignupOpen,
		Retention: 720 * time.Hour, DedupeWindow: 720 * time.Hour, ClaimRetention: 2160 * time.Hour,
		MaxBody: 1 << 20,
		RetrySchedule: config.Schedule{
			5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour,
		},
		DeliveryTimeout: 15 * time.Second, DisableAfter: 100, Workers: 256,
		AccountMaxEndpoints: 1000,
		LogFormat:           config.LogText, LogLevel: slog.LevelInfo,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if !got.Embedded() {
		t.Error("without a database URL the database is not embedded")
	}
}

// A pooler has no sessions to rely on: PostgreSQL itself is to be named, too.
func TestAPoolerAloneIsRefused(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{"ROWLOCK_POOLER_URL=postgres://u:p@pooler:6432/rowlock"})
	if err == nil || !strings.Contains(err.Error(), "ROWLOCK_POOLER_URL is not valid: want ROWLOCK_DATABASE_URL besides") {
		t.Errorf("%v", err)
	}
}

func TestLoadEverySetting(t *testing.T) {
	t.Parallel()
	got, err := config.Load([]string{
		"ROWLOCK_DATABASE_URL=postgres://u:p@db:5432/rowlock", "DATABASE_URL=mysql://ignored",
		"ROWLOCK_POOLER_URL=postgres://u:p@pooler:6432/rowlock",
		"ROWLOCK_DATA_DIR=/var/lib/rowlock", "ROWLOCK_AUTO_MIGRATE=false",
		"ROWLOCK_LISTEN=[::1]:0", "ROWLOCK_BASE_URL=https://Hooks.Example.com/", "ROWLOCK_DRAIN_PAUSE=0", "ROWLOCK_METRICS_LISTEN=:9",
		"ROWLOCK_TRUSTED_PROXIES=10.1.2.3/8, ::1", "ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8,::1/128",
		"ROWLOCK_MASTER_KEY=" + goodKey + "\n", "ROWLOCK_MASTER_KEY_PREVIOUS=" + strings.TrimRight(goodKey, "="),
		"ROWLOCK_SIGNUP=invite", "ROWLOCK_RETENTION=168h", "ROWLOCK_DEDUPE_WINDOW=72h", "ROWLOCK_CLAIM_RETENTION=72h",
		"ROWLOCK_KEY_EVENTS_PER_SECOND=5", "ROWLOCK_MAX_BODY=64KiB", "ROWLOCK_RETRY_SCHEDULE=1s, 2m",
		"ROWLOCK_DELIVERY_TIMEOUT=1500ms", "ROWLOCK_DISABLE_AFTER=4", "ROWLOCK_WORKERS=8",
		"ROWLOCK_ACCOUNT_MAX_ENDPOINTS=0", "ROWLOCK_ACCOUNT_EVENTS_PER_SECOND=7", "ROWLOCK_ACCOUNT_STORED_BYTES=10GiB",
		"ROWLOCK_SMTP_URL=smtp://u:p@mail:25", "ROWLOCK_LOG_FORMAT=json", "ROWLOCK_LOG_LEVEL=DEBUG",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318", "ROWLOCK_SERVICE_HOST=set by an orchestrator",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{
		DatabaseURL: "postgres://u:p@db:5432/rowlock", PoolerURL: "postgres://u:p@pooler:6432/rowlock", DataDir: "/var/lib/rowlock",
		Listen: "[::1]:0", BaseURL: "https://hooks.example.com", MetricsListen: ":9",
		TrustedProxies: networks("10.0.0.0/8", "::1/128"), AllowNetworks: networks("127.0.0.0/8", "::1/128"),
		MasterKey: goodKey, MasterKeyPrevious: goodKey,
		Signup: config.SignupInvite, Retention: 168 * time.Hour, DedupeWindow: 72 * time.Hour, ClaimRetention: 72 * time.Hour,
		KeyEventsPerSecond: 5, MaxBody: 64 << 10, RetrySchedule: config.Schedule{time.Second, 2 * time.Minute},
		DeliveryTimeout: 1500 * time.Millisecond, DisableAfter: 4, Workers: 8,
		AccountEventsPerSecond: 7, AccountStoredBytes: 10 << 30,
		SMTPURL: "smtp://u:p@mail:25", LogFormat: config.LogJSON, LogLevel: slog.LevelDebug,
		OTLPEndpoint: "http://localhost:4318",
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if !got.BaseURL.Secure() || got.Embedded() {
		t.Error("https base URL is not secure, or a named database is embedded")
	}
}

func networks(cidrs ...string) config.Networks {
	var n config.Networks
	for _, cidr := range cidrs {
		n = append(n, netip.MustParsePrefix(cidr))
	}
	return n
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	bad := map[string][]string{
		"ROWLOCK_DATABASE_URL":              {"mysql://h/db", "host=/tmp", "postgres://u:p#x@h/db", "postgres:db"},
		"ROWLOCK_AUTO_MIGRATE":              {"yes"},
		"ROWLOCK_LISTEN":                    {"8080", "localhost", ":http", ":65536", ":-1"},
		"ROWLOCK_POOLER_URL":                {"mysql://h/db", "pooler:6432", "postgres://u:p#x@h/db"},
		"ROWLOCK_BASE_URL":                  {"localhost:8080", "ftp://h", "https://h/rowlock", "https://h?q=1", "https://u@h", "https://", "https://h#f"},
		"ROWLOCK_TRUSTED_PROXIES":           {"10.0.0.0/33", "proxy.internal", "10.0.0.0/8,", "::ffff:10.0.0.0/104", "fe80::1%eth0"},
		"ROWLOCK_METRICS_LISTEN":            {"off"},
		"ROWLOCK_MASTER_KEY":                {"short", goodKey + "AA", strings.ReplaceAll(goodKey, "A", "-"), strings.Repeat("00", 32)},
		"ROWLOCK_MASTER_KEY_PREVIOUS":       {"AAAA"},
		"ROWLOCK_SIGNUP":                    {"Open", "nobody"},
		"ROWLOCK_ALLOW_NETWORKS":            {"private"},
		"ROWLOCK_RETENTION":                 {"167h59m", "30d", "720", "-720h"},
		"ROWLOCK_DEDUPE_WINDOW":             {"71h"},
		"ROWLOCK_CLAIM_RETENTION":           {"1s"},
		"ROWLOCK_KEY_EVENTS_PER_SECOND":     {"-1", "1.5"},
		"ROWLOCK_MAX_BODY":                  {"1MB", "0", "17MiB", "1 000", "9999999999TiB", "-1MiB", "1KiBKiB"},
		"ROWLOCK_RETRY_SCHEDULE":            {"5s,,5m", "5", "0s", "-1s", strings.Repeat("1s,", 100) + "1s"},
		"ROWLOCK_DELIVERY_TIMEOUT":          {"0", "99ms"},
		"ROWLOCK_DRAIN_PAUSE":               {"-1s", "soon"},
		"ROWLOCK_DISABLE_AFTER":             {"0"},
		"ROWLOCK_WORKERS":                   {"0", "many"},
		"ROWLOCK_ACCOUNT_MAX_ENDPOINTS":     {"-1"},
		"ROWLOCK_ACCOUNT_EVENTS_PER_SECOND": {"-1"},
		"ROWLOCK_ACCOUNT_STORED_BYTES":      {"lots"},
		"ROWLOCK_SMTP_URL":                  {"mail.example.com", "http://mail"},
		"ROWLOCK_LOG_FORMAT":                {"logfmt"},
		"ROWLOCK_LOG_LEVEL":                 {"loud"},
		"OTEL_EXPORTER_OTLP_ENDPOINT":       {"http://[::1", "notaurl", "localhost:4318", "ftp://localhost:4318"},
	}
	free := map[string]bool{"ROWLOCK_DATA_DIR": true} // any text is a directory
	for _, v := range config.Variables() {
		if len(bad[v.Name]) == 0 && !free[v.Name] {
			t.Errorf("%s: no wrong value is tested", v.Name)
		}
		for _, value := range bad[v.Name] {
			t.Run(v.Name+"="+value, func(t *testing.T) {
				t.Parallel()
				_, err := config.Load([]string{"ROWLOCK_MASTER_KEY=" + goodKey, v.Name + "=" + value})
				var problem *config.SettingError
				if !errors.As(err, &problem) {
					t.Fatalf("accepted, or another error: %v", err)
				}
				if problem.Name != v.Name || problem.Accepted == "" {
					t.Errorf("problem = %+v", problem)
				}
			})
		}
	}
}

func TestLoadReportsAllTogetherWithValueAndHint(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{
		"DATABASE_URL=mysql://u:hunter2@h/db", "ROWLOCK_MASTER_KEY=hunter3", "ROWLOCK_SMTP_URL=http://u:hunter4@h",
		"ROWLOCK_BASE_URL=https://u:hunter5@h", "ROWLOCK_RETENTION=5h", "ROWLOCK_WORKERS=" + strings.Repeat("é", 300),
	})
	if err == nil {
		t.Fatal("accepted")
	}
	want := []string{
		"DATABASE_URL is not valid: want a URL such as postgres://",
		`ROWLOCK_BASE_URL is "https://u:xxxxx@h": want an http or https URL`,
		"ROWLOCK_MASTER_KEY is not valid: want 32 bytes",
		`ROWLOCK_RETENTION is "5h": want a duration of at least 168h`,
		`ROWLOCK_WORKERS is "` + strings.Repeat("é", 100) + `"…: want a whole number`,
		"ROWLOCK_SMTP_URL is not valid: want a URL such as smtp://",
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d problems, want %d:\n%v", len(lines), len(want), err)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("line %d = %q, want it to begin %q", i, line, want[i])
		}
	}
	if strings.Contains(err.Error(), "hunter") {
		t.Errorf("a secret is in the error: %v", err)
	}
}

func TestLoadDatabaseFallback(t *testing.T) {
	t.Parallel()
	key := "ROWLOCK_MASTER_KEY=" + goodKey
	for _, environ := range [][]string{
		{key, "DATABASE_URL=postgresql://h1:1,h2:2/db"},
		{key, "DATABASE_URL=postgresql://h1:1,h2:2/db", "ROWLOCK_DATABASE_URL="},
	} {
		c, err := config.Load(environ)
		if err != nil || c.DatabaseURL.Reveal() != "postgresql://h1:1,h2:2/db" {
			t.Errorf("%v: %q, %v", environ, c.DatabaseURL.Reveal(), err)
		}
	}
}

func TestLoadWantsMasterKeyForNamedDatabase(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{"DATABASE_URL=postgres://h/db"})
	var problem *config.SettingError
	if !errors.As(err, &problem) || problem.Name != "ROWLOCK_MASTER_KEY" || !strings.Contains(problem.Accepted, "openssl") {
		t.Errorf("err = %v, want ROWLOCK_MASTER_KEY with how to make one", err)
	}
}
