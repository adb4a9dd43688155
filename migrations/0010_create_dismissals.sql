-- What people have looked at and need not be told of again: the failures of one
-- endpoint for one cause, up to a time. Nothing is updated when the same fails
-- again: a group whose newest failure is later than that time is open.
-- And what is being retried, which is shown beside what failed.

-- +goose Up

CREATE TABLE dismissals (
    account_id   uuid NOT NULL,
    endpoint_id  uuid NOT NULL,
    -- The cause, as deliveries have it; both are empty for an unknown outcome.
    error_kind   text NOT NULL,
    status_code  integer NOT NULL,
    -- When the newest failure was given up that the person saw.
    until        timestamptz NOT NULL,
    note         text NOT NULL DEFAULT '',
    actor        text NOT NULL,
    dismissed_at timestamptz NOT NULL,
    CONSTRAINT dismissals_pkey PRIMARY KEY (account_id, endpoint_id, error_kind, status_code),
    CONSTRAINT dismissals_endpoint_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES endpoints (account_id, id)
);

-- What failed at its last attempt and is still to be tried: few among what was
-- given up, all of which the index of troubles has.
CREATE INDEX deliveries_retrying_idx ON deliveries (account_id, id)
    WHERE status IN ('pending', 'sending') AND last_outcome <> 'succeeded';
