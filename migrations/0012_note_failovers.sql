-- Which endpoint got an event that another one could not be given, noted on the
-- deliveries of both, so that pages can say what became of it.

-- +goose Up

ALTER TABLE deliveries
    ADD COLUMN failover_of uuid
        CONSTRAINT deliveries_failover_of_other CHECK (failover_of <> endpoint_id),
    ADD COLUMN failover_to uuid
        CONSTRAINT deliveries_failover_to_other CHECK (failover_to <> endpoint_id),
    ADD CONSTRAINT deliveries_failover_of_fkey FOREIGN KEY (account_id, failover_of) REFERENCES endpoints (account_id, id),
    ADD CONSTRAINT deliveries_failover_to_fkey FOREIGN KEY (account_id, failover_to) REFERENCES endpoints (account_id, id);

-- Disabled endpoints that give what they get to the next of their chain: those
-- that did not get to the end are looked for.
CREATE INDEX endpoints_handing_on_idx ON endpoints (id) WHERE state = 'disabled' AND failover_id IS NOT NULL AND deleted_at IS NULL;
