package endpoint_test

import (
	"context"
	"testing"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
)

func TestPauseIsOneChange(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	pressed := atOnce(t, 4, nil, func(ctx context.Context) error {
		got, err := b.Pause(ctx, b.account, actor, e.ID)
		if err == nil && got.State != gateway.EndpointPaused {
			t.Errorf("state %q", got.State)
		}
		return err
	})
	if pressed != 4 {
		t.Errorf("%d presses succeeded", pressed)
	}
	b.wantAudit(t, "endpoint.create", "endpoint.pause")
}

func TestPauseDisabled(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	b.exec(t, `UPDATE endpoints SET state = 'disabled', disabled_reason = 'gone'`)
	got, err := b.Pause(t.Context(), b.account, actor, e.ID)
	if err != nil || got.State != gateway.EndpointPaused || got.DisabledReason != "" {
		t.Errorf("paused: %+v, %v", got, err)
	}
}

func TestResumeWakesTheLane(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	b.exec(t, `UPDATE endpoints SET state = 'disabled', disabled_reason = 'gone', consecutive_failures = 100`)
	got, err := b.Resume(t.Context(), b.account, actor, e.ID)
	if err != nil || got.State != gateway.EndpointActive || got.ConsecutiveFailures != 0 || got.DisabledReason != "" {
		t.Errorf("resumed: %+v, %v", got, err)
	}
	var jobs, awake int
	err = b.pool.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM river_job WHERE kind = 'deliver' AND args->>'endpoint_id' = $1),
		       (SELECT count(*) FROM lanes WHERE wake_at <= now())`, e.ID.String()).Scan(&jobs, &awake)
	if err != nil || jobs != 1 || awake != 1 {
		t.Errorf("%d jobs, %d lanes awake, %v; want 1 and 1", jobs, awake, err)
	}
	b.wantAudit(t, "endpoint.create", "endpoint.resume")
}

// One that begins paused was never active: nothing was sent to it meanwhile.
func TestCreatePaused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _, err := b.Create(t.Context(), b.account, actor, endpoint.Input{URL: new("https://example.com/hook"), Paused: true})
	if err != nil || e.State != gateway.EndpointPaused {
		t.Fatalf("made %+v, %v", e, err)
	}
	b.wantAudit(t, "endpoint.create", "endpoint.pause")
}
