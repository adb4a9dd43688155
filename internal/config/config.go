package config

import (
	"log/slog"
	"time"
)

// Config holds every setting of a Rowlock process.
//
// Tags: env is the variable, fallback one that is read when it is empty,
// envDefault the default, min and max the bounds of its value, schemes the
// URL schemes allowed, accept what a value must look like, and about what the
// setting is for.
type Config struct {
	DatabaseURL SecretURL `env:"ROWLOCK_DATABASE_URL" fallback:"DATABASE_URL" schemes:"postgres,postgresql" accept:"a URL such as postgres://user:password@host:5432/rowlock" about:"PostgreSQL 15 or newer; DATABASE_URL is read when this is empty. Both empty: an embedded PostgreSQL under the data directory"`
	PoolerURL   SecretURL `env:"ROWLOCK_POOLER_URL" schemes:"postgres,postgresql" accept:"a URL such as postgres://user:password@pooler:6432/rowlock" about:"a pooler such as PgBouncer in transaction mode, in front of ROWLOCK_DATABASE_URL: queries go through it, and what belongs to a session goes to PostgreSQL itself. Empty: everything does"`
	DataDir     string    `env:"ROWLOCK_DATA_DIR" envDefault:"./data" accept:"a directory" about:"embedded database and generated master key; never removed by Rowlock"`
	AutoMigrate bool      `env:"ROWLOCK_AUTO_MIGRATE" envDefault:"true" accept:"true or false" about:"apply migrations at start; false: only rowlock migrate up does"`

	Listen         Address       `env:"ROWLOCK_LISTEN" envDefault:":8080" accept:"host:port or :port, such as :8080" about:"address of the dashboard, API and ingest"`
	BaseURL        BaseURL       `env:"ROWLOCK_BASE_URL" envDefault:"http://localhost:8080" accept:"an http or https URL without path, query or credentials, such as https://hooks.example.com" about:"the public address, for ingest URLs, mails and cookies"`
	TrustedProxies Networks      `env:"ROWLOCK_TRUSTED_PROXIES" accept:"CIDRs separated by commas, such as 10.0.0.0/8,::1/128" about:"proxies whose X-Forwarded-For is believed"`
	DrainPause     time.Duration `env:"ROWLOCK_DRAIN_PAUSE" envDefault:"5s" min:"0s" accept:"a duration such as 5s, 0 for none" about:"on a stop signal: for how long requests are still taken while /readyz answers 503, so that load balancers notice; left out where nobody has asked /readyz for a minute. 0: none"`
	MetricsListen  Address       `env:"ROWLOCK_METRICS_LISTEN" envDefault:"127.0.0.1:9090" accept:"host:port or :port, such as 127.0.0.1:9090" about:"address of Prometheus /metrics and pprof"`

	MasterKey         Key    `env:"ROWLOCK_MASTER_KEY" accept:"32 bytes in standard base64, such as openssl rand -base64 32 prints" about:"32 bytes in standard base64 that protect stored secrets. Required with a database URL; with the embedded database, generated into the data directory"`
	MasterKeyPrevious Key    `env:"ROWLOCK_MASTER_KEY_PREVIOUS" accept:"32 bytes in standard base64: the master key before the present one" about:"the former master key, accepted for reading while keys are rotated"`
	Signup            Signup `env:"ROWLOCK_SIGNUP" envDefault:"open" accept:"open, invite or closed" about:"who may sign up: anybody (open), the invited (invite), nobody (closed)"`

	AllowNetworks Networks `env:"ROWLOCK_ALLOW_NETWORKS" accept:"CIDRs separated by commas, such as 127.0.0.0/8,10.0.0.0/8" about:"private networks that deliveries may reach, plain http included; never Rowlock's own listeners or database"`

	Retention      time.Duration `env:"ROWLOCK_RETENTION" envDefault:"720h" min:"168h" accept:"a duration of at least 168h, such as 720h" about:"how long events, deliveries and attempts are kept; at least 168h"`
	DedupeWindow   time.Duration `env:"ROWLOCK_DEDUPE_WINDOW" envDefault:"720h" min:"72h" accept:"a duration of at least 72h, such as 720h" about:"how long an event key is remembered; at least 72h"`
	ClaimRetention time.Duration `env:"ROWLOCK_CLAIM_RETENTION" envDefault:"2160h" min:"72h" accept:"a duration of at least 72h, such as 2160h" about:"how long done claims of the ledger service are kept; at least 72h. Claims of single-fire types stay"`

	KeyEventsPerSecond int  `env:"ROWLOCK_KEY_EVENTS_PER_SECOND" envDefault:"0" min:"0" accept:"a whole number, 0 for no limit" about:"events a second that one API key may publish, unless it carries its own limit; 0: no limit"`
	MaxBody            Size `env:"ROWLOCK_MAX_BODY" envDefault:"1MiB" min:"1KiB" max:"16MiB" accept:"a size from 1KiB to 16MiB, such as 1MiB or 65536" about:"largest body or data of one event; larger ones are answered 413"`

	RetrySchedule   Schedule      `env:"ROWLOCK_RETRY_SCHEDULE" envDefault:"5s,5m,30m,2h,5h,10h,10h" accept:"up to 100 positive durations separated by commas, such as 5s,5m,30m" about:"waits between the attempts of a delivery, give or take 10 %"`
	DeliveryTimeout time.Duration `env:"ROWLOCK_DELIVERY_TIMEOUT" envDefault:"15s" min:"100ms" accept:"a duration of at least 100ms, such as 15s" about:"one attempt, from connecting to the last byte of the answer"`
	DisableAfter    int           `env:"ROWLOCK_DISABLE_AFTER" envDefault:"100" min:"1" accept:"a whole number of at least 1" about:"consecutive failures that disable an endpoint, of which at most one a second counts"`
	Workers         int           `env:"ROWLOCK_WORKERS" envDefault:"256" min:"1" accept:"a whole number of at least 1" about:"sends in flight on this node"`

	AccountMaxEndpoints    int  `env:"ROWLOCK_ACCOUNT_MAX_ENDPOINTS" envDefault:"1000" min:"0" accept:"a whole number, 0 for no limit" about:"endpoints one account may have; 0: no limit"`
	AccountEventsPerSecond int  `env:"ROWLOCK_ACCOUNT_EVENTS_PER_SECOND" envDefault:"0" min:"0" accept:"a whole number, 0 for no limit" about:"events a second one account may publish; 0: no limit"`
	AccountStoredBytes     Size `env:"ROWLOCK_ACCOUNT_STORED_BYTES" envDefault:"0" min:"0" accept:"a size such as 10GiB, 0 for no limit" about:"bytes of bodies one account may keep; 0: no limit"`

	SMTPURL   SecretURL  `env:"ROWLOCK_SMTP_URL" schemes:"smtp,smtps" accept:"a URL such as smtp://user:password@mail.example.com:587" about:"where mail is handed in; ?from= names the sender, else it is rowlock@ the public address. Empty: mails are kept under Instance > Mail for 24 h"`
	LogFormat LogFormat  `env:"ROWLOCK_LOG_FORMAT" envDefault:"text" accept:"text or json" about:"form of the log lines: text (key=value, for people) or json (one object a line, for machines)"`
	LogLevel  slog.Level `env:"ROWLOCK_LOG_LEVEL" envDefault:"info" accept:"debug, info, warn or error" about:"least level that is logged: debug, info, warn or error"`

	OTLPEndpoint SecretURL `env:"OTEL_EXPORTER_OTLP_ENDPOINT" schemes:"http,https" accept:"a URL such as http://localhost:4318" about:"where traces go; over HTTP; the other standard OpenTelemetry variables hold too. Empty: tracing is off"`
}

// Embedded tells whether the process runs its own PostgreSQL, because no
// database was named.
func (c Config) Embedded() bool { return c.DatabaseURL == "" }
