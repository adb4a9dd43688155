-- Events of sources that tell facts are decided in the order in which they came.
-- Whether there is such a source at all is asked with every job.

-- +goose Up

CREATE INDEX sources_facts_idx ON sources (id) WHERE rule ->> 'state' IS NOT NULL;
