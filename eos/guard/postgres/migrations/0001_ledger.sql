-- One row for each operation of each effect, for good: its primary key decides
-- which of two workers was first.
CREATE TABLE weir.mark (
    sum            bytea       PRIMARY KEY,
    effect         text        NOT NULL COLLATE "C",
    source         text        NOT NULL COLLATE "C",
    key            bytea       NOT NULL,
    fingerprint    bytea       NOT NULL,
    issued_at      timestamptz,
    state          smallint    NOT NULL,
    why            text        NOT NULL DEFAULT '',
    result         bytea,
    made_at        timestamptz NOT NULL DEFAULT now(),
    ended_at       timestamptz,
    -- the record that publishes the outcome
    by_topic       bytea,
    by_partition   integer,
    by_offset      bigint
) WITH (fillfactor = 80);

-- The one key of each intent that a record made.
CREATE TABLE weir.origin (
    effect         text     NOT NULL COLLATE "C",
    topic_id       bytea    NOT NULL,
    "partition"    integer  NOT NULL,
    "offset"       bigint   NOT NULL,
    ordinal        integer  NOT NULL,
    sum            bytea    NOT NULL,
    PRIMARY KEY (effect, topic_id, "partition", "offset", ordinal)
);

-- The application that an effect belongs to: another one with an effect of this
-- name would take its marks for repeats of its own.
CREATE TABLE weir.owner (
    effect         text     PRIMARY KEY COLLATE "C",
    application    text     NOT NULL
);

-- Effects that are not over. State and lease are in no index, so that taking and
-- finishing one writes no index entry.
CREATE TABLE weir.effect (
    sum            bytea       PRIMARY KEY,
    effect         text        NOT NULL COLLATE "C",
    source         text        NOT NULL COLLATE "C",
    entity         text        NOT NULL COLLATE "C",
    seq            bigint      GENERATED ALWAYS AS IDENTITY,
    key            bytea       NOT NULL,
    payload        bytea       NOT NULL,
    state          smallint    NOT NULL,
    why            text        NOT NULL DEFAULT '',
    token          bigint      NOT NULL DEFAULT 0,
    lease_until    timestamptz,
    not_before     timestamptz NOT NULL DEFAULT now(),
    doubts         integer     NOT NULL DEFAULT 0,
    first_sent     timestamptz,
    attempts       integer     NOT NULL DEFAULT 0,
    in_vain        integer     NOT NULL DEFAULT 0,
    absent_since   timestamptz
) WITH (fillfactor = 60);
CREATE INDEX effect_line ON weir.effect (effect, source, entity, seq);
CREATE INDEX effect_due ON weir.effect (effect, not_before, seq);

-- Outcomes that nobody has published yet.
CREATE TABLE weir.outcome (
    sum            bytea       PRIMARY KEY,
    effect         text        NOT NULL COLLATE "C",
    data           bytea       NOT NULL,
    ended_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outcome_age ON weir.outcome (effect, ended_at);

-- Every attempt and look-up that was booked.
CREATE TABLE weir.attempt (
    sum            bytea       NOT NULL,
    token          bigint      NOT NULL,
    work           text        NOT NULL,
    said           text        NOT NULL,
    detail         text        NOT NULL DEFAULT '',
    took           interval    NOT NULL,
    booked_at      timestamptz NOT NULL DEFAULT now(),
    fenced         boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (sum, token)
);

-- Intents that were not performed because they contradict what is known.
CREATE TABLE weir.conflict (
    id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind           text        NOT NULL,
    effect         text        NOT NULL COLLATE "C",
    source         text        NOT NULL COLLATE "C",
    sum            bytea       NOT NULL,
    key            bytea       NOT NULL,
    fingerprint    bytea       NOT NULL,
    payload        bytea       NOT NULL,
    topic          text        NOT NULL,
    topic_id       bytea       NOT NULL,
    "partition"    integer     NOT NULL,
    "offset"       bigint      NOT NULL,
    ordinal        integer     NOT NULL,
    seen_at        timestamptz NOT NULL DEFAULT now(),
    UNIQUE (effect, topic_id, "partition", "offset", ordinal, sum)
);
