-- The tables of SPEC section 8, as migration steps; a released step is never changed. A file's user_version is the
-- number of steps applied. No string contains a semicolon or a line that begins with "--".

-- Step 1: runs and evidence
CREATE TABLE IF NOT EXISTS runs (
    issue_key TEXT NOT NULL,
    run_no INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'running',
    PRIMARY KEY (issue_key, run_no)
) STRICT;
CREATE TABLE IF NOT EXISTS evidence (
    run TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;

-- Step 2: server
-- A delivery's body is stored as received, compressed by zlib: the bytes written determine the time to acknowledge it.
-- Indexes of jobs are partial: done jobs, which are most of the table for days, are not in them. STRICT makes SQLite
-- check types as Postgres does. AUTOINCREMENT never reuses an id, so ids order jobs by age.
CREATE TABLE deliveries (
    guid TEXT PRIMARY KEY,
    event TEXT NOT NULL,
    body BLOB NOT NULL,
    received_at REAL NOT NULL
) STRICT;
CREATE INDEX deliveries_received ON deliveries (received_at);
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    issue_key TEXT NOT NULL,
    lane TEXT NOT NULL CHECK (lane IN ('run', 'control')),
    work TEXT NOT NULL,
    due REAL NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    state TEXT NOT NULL DEFAULT 'todo' CHECK (state IN ('todo', 'doing', 'done', 'dead', 'parked')),
    said TEXT NOT NULL DEFAULT '',
    stored_at REAL NOT NULL,
    settled_at REAL,
    UNIQUE (guid, ordinal)
) STRICT;
CREATE INDEX jobs_waiting ON jobs (lane, due, id) WHERE state = 'todo';
CREATE INDEX jobs_of_issue ON jobs (issue_key, lane, id) WHERE state IN ('todo', 'doing');
CREATE INDEX jobs_in_hand ON jobs (id) WHERE state = 'doing';
CREATE INDEX jobs_put_aside ON jobs (state, id) WHERE state IN ('dead', 'parked');
CREATE INDEX jobs_settled ON jobs (settled_at) WHERE state = 'done';
CREATE TABLE signals (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_key TEXT NOT NULL,
    comment_id INTEGER NOT NULL,
    edited_at TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    part INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    actor TEXT NOT NULL,
    url TEXT NOT NULL,
    UNIQUE (issue_key, comment_id, edited_at, ordinal, part)
) STRICT;
CREATE TABLE commands (
    issue_key TEXT NOT NULL,
    comment_id INTEGER NOT NULL,
    edited_at TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    canonical TEXT NOT NULL,
    PRIMARY KEY (issue_key, comment_id, edited_at, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE installations (
    host TEXT NOT NULL,
    id INTEGER NOT NULL,
    account TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'suspended', 'deleted')),
    PRIMARY KEY (host, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE repositories (
    repository_key TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    installation_id INTEGER NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    private INTEGER,
    archived INTEGER NOT NULL DEFAULT 0,
    gone INTEGER NOT NULL DEFAULT 0,
    config TEXT,
    config_complaint TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE issues (
    issue_key TEXT PRIMARY KEY,
    body_hash TEXT,
    sticky_id INTEGER,
    muted INTEGER NOT NULL DEFAULT 0,
    ended TEXT,
    moved_to TEXT
) STRICT, WITHOUT ROWID;
ALTER TABLE runs ADD COLUMN sha TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN brain TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN config_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN body_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN last_signal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN result TEXT;
CREATE TABLE run_events (
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE questions (
    issue_key TEXT NOT NULL,
    slot INTEGER NOT NULL CHECK (slot IN (1, 2)),
    question_id TEXT NOT NULL,
    exchange TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'withdrawn', 'expired')),
    answer TEXT,
    answered_by TEXT,
    answer_url TEXT,
    PRIMARY KEY (issue_key, slot),
    UNIQUE (issue_key, question_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE effects (
    issue_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    wanted_hash TEXT NOT NULL,
    payload TEXT NOT NULL,
    done_hash TEXT,
    intent_at REAL,
    github_id INTEGER,
    wanted_at REAL NOT NULL,
    PRIMARY KEY (issue_key, kind, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE label_actors (
    issue_key TEXT NOT NULL,
    label TEXT NOT NULL,
    added INTEGER NOT NULL,
    actor TEXT NOT NULL,
    PRIMARY KEY (issue_key, label)
) STRICT, WITHOUT ROWID;
CREATE TABLE relations (
    issue_key TEXT NOT NULL,
    other INTEGER NOT NULL,
    duplicate INTEGER NOT NULL,
    actor TEXT NOT NULL,
    PRIMARY KEY (issue_key, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE outcomes (
    issue_key TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE usage (
    scope TEXT NOT NULL,
    day TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0,
    issues INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, day)
) STRICT, WITHOUT ROWID;

-- Step 3: past issues
-- The primary key stores the rows of a repository together, since a comparison reads all of them.
CREATE TABLE past_issues (
    repository_key TEXT NOT NULL,
    number INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    version INTEGER NOT NULL,
    title BLOB NOT NULL,
    body BLOB NOT NULL,
    crash BLOB NOT NULL,
    PRIMARY KEY (repository_key, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE past_walks (
    repository_key TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    page INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    finished INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Step 4: outcomes
-- The first release never wrote to its table of outcomes, so it is dropped.
DROP TABLE outcomes;
CREATE TABLE outcomes (
    issue_key TEXT PRIMARY KEY,
    repository_key TEXT NOT NULL,
    run_no INTEGER NOT NULL,
    sha TEXT NOT NULL,
    claimed INTEGER NOT NULL,
    confidence REAL NOT NULL,
    named TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'scored', 'unknown')),
    rank INTEGER NOT NULL DEFAULT 0,
    fix TEXT NOT NULL DEFAULT '',
    why TEXT NOT NULL DEFAULT '',
    looks INTEGER NOT NULL DEFAULT 0,
    look_at REAL
) STRICT, WITHOUT ROWID;
CREATE INDEX outcomes_of_repository ON outcomes (repository_key, state);

-- Step 5: pages
-- The columns by which pages sort and filter runs, to avoid reading the large results. The first index contains all
-- of them. Runs of older releases have the defaults.
ALTER TABLE runs ADD COLUMN repository_key TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN confidence REAL;
ALTER TABLE runs ADD COLUMN began_at REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN changed_at REAL NOT NULL DEFAULT 0;
UPDATE runs SET repository_key = rtrim(rtrim(issue_key, '0123456789'), '#');
CREATE INDEX runs_by_age ON runs (
    began_at, issue_key, run_no, repository_key, status, kind, claimed, confidence, brain, title, changed_at
);
CREATE INDEX runs_of_repository ON runs (repository_key, began_at);
CREATE INDEX runs_changed ON runs (changed_at, issue_key, run_no);
ALTER TABLE outcomes ADD COLUMN settled_at REAL;

-- Step 6: leases
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    until REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Step 7: limits
-- A usage scope is the key of an installation, a repository, a run or an author; the empty scope counts everything.
ALTER TABLE jobs ADD COLUMN waited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN questions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE issues ADD COLUMN ended_at REAL;
ALTER TABLE repositories ADD COLUMN gone_at REAL;
ALTER TABLE repositories ADD COLUMN listed_until TEXT;
CREATE TABLE writes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    installation TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX writes_of_installation ON writes (installation, at);
CREATE TABLE quiet (
    installation TEXT PRIMARY KEY,
    until REAL NOT NULL DEFAULT 0,
    in_a_row INTEGER NOT NULL DEFAULT 0,
    promised REAL NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE paces (
    name TEXT PRIMARY KEY,
    next_at REAL NOT NULL DEFAULT 0,
    closed_until REAL NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE limited (
    repository_key TEXT NOT NULL,
    day TEXT NOT NULL,
    what TEXT NOT NULL,
    times INTEGER NOT NULL DEFAULT 0,
    told TEXT,
    PRIMARY KEY (repository_key, day, what)
) STRICT, WITHOUT ROWID;

-- Step 8: metrics
CREATE TABLE metric_samples (
    name TEXT NOT NULL,
    labels TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (name, labels)
) STRICT, WITHOUT ROWID;

-- Step 9: budgets
ALTER TABLE usage ADD COLUMN postponed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE paces ADD COLUMN promised REAL NOT NULL DEFAULT 0;

-- Step 10: api runs
CREATE TABLE api_runs (
    id TEXT PRIMARY KEY,
    repository_key TEXT NOT NULL,
    idempotency_key TEXT UNIQUE,
    request TEXT NOT NULL,
    created_at REAL NOT NULL,
    settled_at REAL,
    sha TEXT NOT NULL DEFAULT '',
    result TEXT,
    fault TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX api_runs_settled ON api_runs (settled_at);

-- Step 11: pruning
ALTER TABLE issues ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX issues_ended ON issues (pruned, ended_at);

-- Step 12: turns
-- Jobs of older releases have no installation; as a group they take turns like one installation.
ALTER TABLE jobs ADD COLUMN installation TEXT NOT NULL DEFAULT '';
CREATE INDEX jobs_of_installation ON jobs (lane, installation, due, id) WHERE state = 'todo';
CREATE INDEX jobs_begun ON jobs (lane, installation, due, id) WHERE state = 'todo' AND attempt > 0;
CREATE TABLE turns (
    lane TEXT NOT NULL,
    installation TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (lane, installation)
) STRICT, WITHOUT ROWID;

-- Step 13: shares
ALTER TABLE writes ADD COLUMN repository TEXT NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN answers INTEGER NOT NULL DEFAULT 0;

-- Step 14: deaths
-- Why a job is dead, and how often it was revived.
ALTER TABLE jobs ADD COLUMN death TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN revived INTEGER NOT NULL DEFAULT 0;

-- Step 15: bodies
-- GitHub's signature covers the body but not the delivery's id: a captured body could be sent again under another id.
ALTER TABLE deliveries ADD COLUMN digest TEXT;
CREATE UNIQUE INDEX deliveries_digest ON deliveries (digest);
CREATE TABLE ended_sessions (
    id TEXT PRIMARY KEY,
    until REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Step 16: api tokens
CREATE TABLE api_tokens (
    digest TEXT PRIMARY KEY,
    repository_key TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_tokens_of_repository ON api_tokens (repository_key);

-- Step 17: origins
-- The text that a run read, who wrote it, and what began the run; runs of older releases have the defaults. feedback
-- has at most one row for each person, source and run.
ALTER TABLE runs ADD COLUMN body TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN why TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN asked_by TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN asked_in INTEGER;
CREATE TABLE feedback (
    issue_key TEXT NOT NULL,
    run_no INTEGER NOT NULL,
    source TEXT NOT NULL,
    actor TEXT NOT NULL,
    is_right INTEGER NOT NULL,
    why TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (issue_key, run_no, source, actor)
) STRICT, WITHOUT ROWID;

-- Step 18: crashes
-- crashes is read within a day of its rows; crash_alerts remembers which crashes had their alert.
CREATE TABLE crashes (
    repository_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    issue_key TEXT NOT NULL,
    reporter INTEGER NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (repository_key, fingerprint, issue_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX crashes_by_age ON crashes (at);
CREATE TABLE crash_alerts (
    repository_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (repository_key, fingerprint)
) STRICT, WITHOUT ROWID;

-- Step 19: places
-- The file and the function that a report claims; empty for runs of older releases.
ALTER TABLE runs ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN symbol TEXT NOT NULL DEFAULT '';

-- Step 20: ratings
-- When the reactions to a report were read last.
ALTER TABLE outcomes ADD COLUMN rated_at REAL;

-- Step 21: learning
-- Who changed a label, and when; rows of older releases count as old. label_judgements has the judgements of reports
-- by such labels, components the words that people taught, permissions those of people who reacted to reports.
ALTER TABLE label_actors ADD COLUMN by_bot INTEGER NOT NULL DEFAULT 0;
ALTER TABLE label_actors ADD COLUMN at REAL NOT NULL DEFAULT 0;
CREATE TABLE label_judgements (
    issue_key TEXT NOT NULL,
    run_no INTEGER NOT NULL,
    label TEXT NOT NULL,
    actor TEXT NOT NULL,
    is_right INTEGER NOT NULL,
    why TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (issue_key, run_no, label)
) STRICT, WITHOUT ROWID;
CREATE TABLE components (
    repository_key TEXT NOT NULL,
    word TEXT NOT NULL,
    path TEXT NOT NULL,
    actor TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (repository_key, word)
) STRICT, WITHOUT ROWID;
CREATE TABLE permissions (
    repository_key TEXT NOT NULL,
    login TEXT NOT NULL,
    level INTEGER NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (repository_key, login)
) STRICT, WITHOUT ROWID;

-- Step 22: faults
-- When a job's due time was set, by the clock of that moment; 0 means when the job was stored. What keeps a worker from
-- working.
ALTER TABLE jobs ADD COLUMN due_set_at REAL NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN fault TEXT NOT NULL DEFAULT '';

-- Step 23: typed
-- Whether a person set or removed the issue's type.
ALTER TABLE issues ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
