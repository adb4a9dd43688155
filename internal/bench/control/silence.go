package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

const (
	// silentTimeout is how long a send waits for an answer.
	silentTimeout = 2 * time.Second
	// usualDelay is how long the far side takes for an answer while it gives
	// any: long enough for sends to overlap.
	usualDelay = 50 * time.Millisecond
	// silenceFor is how long it gives none.
	silenceFor = 25 * time.Second
	// wide is the endpoint's max_in_flight.
	wide = 64
)

// measureSilence lets an endpoint that is busy with 64 sends at once fall
// silent, and answer again.
func measureSilence(ctx context.Context, api *caller, _ int, out io.Writer) error {
	f := listen()
	defer f.Close()
	f.delay = usualDelay
	// Retries come back before the silence is over.
	_, err := api.endpoint(ctx, f, "silence", map[string]any{
		"max_in_flight": wide, "timeout": silentTimeout.String(), "retry_schedule": []string{"1h"},
	})
	if err != nil {
		return err
	}
	const enough = 10_000
	if err := api.publish(ctx, "silence", enough); err != nil {
		return err
	}
	if err := until(ctx, "the lane is wide", func() (bool, error) { return f.atOnce() == wide, nil }); err != nil {
		return err
	}
	f.fallSilent()
	fell := time.Now()
	timer := time.NewTimer(silenceFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	fmt.Fprintf(out, "64 at once fall silent: one probe at a time %.1f s after the first timeout\n", probing(f.starts(), fell).Seconds())
	f.forget()
	f.answer()
	var first time.Time
	err = until(ctx, "the lane is wide again", func() (bool, error) {
		at, ok := f.firstAnswer()
		first = at
		return ok && f.atOnce() == wide, nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "and answer again: %d at once %.1f s after the first success\n", wide, time.Since(first).Seconds())
	return err
}

// probing tells how long after the first timeout the last send began that was
// not alone: the others before it had not timed out.
func probing(began []time.Time, fell time.Time) time.Duration {
	firstTimeout := fell.Add(silentTimeout)
	began = slices.DeleteFunc(began, func(at time.Time) bool { return at.Before(fell) })
	last := firstTimeout
	for i := 1; i < len(began); i++ {
		if began[i].Sub(began[i-1]) < silentTimeout {
			last = began[i]
		}
	}
	return max(last.Sub(firstTimeout), 0)
}
