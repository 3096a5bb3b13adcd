-- Times are epoch milliseconds. Names are compared byte by byte, whatever the language of the database.
-- Columns are never null where rows are many: {none} stands for "no time", 0 for "no token" and "no runner", '' for "no text".
-- JSON is kept as text, because PostgreSQL's json cannot take apart every string that JavaScript can write.
-- An index may have a condition that always holds: it keeps a plan made on an empty table from using it for another index's question.

create table {schema}._meta (
  only_row boolean primary key default true check (only_row),
  system_id text,
  database_id text,
  timeline bigint,
  epoch bigint not null default 1
);
insert into {schema}._meta default values;

create table {schema}._namespaces (
  number integer generated always as identity primary key,
  namespace text collate "C" not null unique,
  -- The highest version, token counter and line number of any pruned name.
  floor bigint not null default 0,
  -- The latest transaction that erased records: a reader whose snapshot did not see it may have missed ends.
  erased_in xid8
);

-- The key of a name outlives its schedule, because a fire is identified by it. What a removed schedule leaves is where its
-- successor goes on. `mark`: the latest due time that was ever created or recorded without a nonce.
create table {schema}._names (
  key bigint generated always as identity primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null default 0,
  tokens bigint not null default 0,
  ended bigint not null default 0,
  mark bigint not null default {none},
  trimmed_before bigint not null default {none},
  gone_at bigint not null default {none},
  unique (namespace, name)
);
create index _names_gone on {schema}._names (namespace, gone_at) where gone_at > {none};

create table {schema}._jobs (
  number integer generated always as identity primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  unique (namespace, name)
);

-- Numbers of instances, as clocks, claims and history name them. `gone_at`: when the instance was pruned.
create table {schema}._runners (
  number integer generated always as identity primary key,
  namespace text collate "C" not null,
  instance text collate "C" not null,
  gone_at bigint not null default {none},
  unique (namespace, instance)
);
create index _runners_gone on {schema}._runners (namespace, gone_at) where gone_at > {none};

-- Never changed: processes keep what they have read. A schedule that is defined anew gets another row.
create table {schema}._definitions (
  id bigint generated always as identity primary key,
  revision bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  source text not null,
  definition text not null
);

-- What schedules are found by in lists. Changes at human rate.
create table {schema}._schedules (
  key bigint primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  job text collate "C" not null,
  tenant text collate "C",
  app text collate "C",
  status text collate "C" not null,
  unique (namespace, name)
);
create index _schedules_job on {schema}._schedules (namespace, job, name) where status <> '';
create index _schedules_tenant on {schema}._schedules (namespace, tenant, name) where tenant is not null;
create index _schedules_app on {schema}._schedules (namespace, app, name) where app is not null;
create index _schedules_status on {schema}._schedules (namespace, status, name) where status <> 'active';

-- The state of a schedule. A claim writes from wake_at to version, a settlement from runner to last_ok_at: what lies together is
-- short in the log. The mark is the later one of `mark` and due_at, a planned_to of {as_due} stands for due_at, and `extra` says how many
-- more tokens than fires there were: a plain claim need not write what follows from the rest. A plain schedule has at most one open run, which is in due_at, token, claim, started_at (when it was claimed) and runner, and nothing uncommon. Otherwise `more` is JSON with
-- all that is open and uncommon, and what is open is also in _open.
create table {schema}._clocks (
  key bigint not null,
  definition bigint not null,
  job integer not null,
  bucket smallint not null,
  format smallint not null,
  trimmed_before bigint not null,
  mark bigint not null,
  planned_to bigint not null,
  extra bigint not null,
  wake_at bigint not null,
  next_at bigint not null,
  tokens bigint not null,
  due_at bigint not null,
  token bigint not null,
  claim bigint not null,
  started_at bigint not null,
  failed_in_row integer not null,
  runner integer not null,
  version bigint not null,
  ended bigint not null,
  last_due bigint not null,
  last_ok_due bigint not null,
  last_ok_at bigint not null,
  name text collate "C" not null,
  zone text not null,
  more text not null,
  primary key (key)
) with (fillfactor = 33, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index _clocks_due on {schema}._clocks (job, wake_at) where wake_at > {none};
create index _clocks_newer on {schema}._clocks (key) where format > {format};

-- Open fires of schedules that are not plain, derived from `more`.
create table {schema}._open (
  key bigint not null,
  due_at bigint not null,
  token bigint not null,
  claim bigint not null,
  started_at bigint not null,
  runner integer not null,
  nonce text collate "C" not null,
  tenant text collate "C" not null,
  cancel text not null,
  primary key (key, due_at, nonce)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- What open runs count against.
create table {schema}._holds (
  namespace text collate "C" not null,
  slot text collate "C" not null,
  key bigint not null,
  token bigint not null,
  primary key (namespace, slot, key, token)
);
create index _holds_key on {schema}._holds (key) where slot <> '';

-- Every claim. An instance holds a run if one of its claims has the key, and the clock or _open names the instance for it.
create table {schema}._claims (
  id bigint generated always as identity primary key,
  runner integer not null,
  claim bigint not null,
  claimed_at bigint not null,
  keys bigint[] not null
);
create index _claims_runner on {schema}._claims (runner, id);

-- One row for a run that ended (token > 0), for a fire that ended without one (0), or for a range of instants (minus their number).
-- started_at is the start of the run, the last instant of a range, or due_at; lead says how long before that it was planned. `more`: JSON of what most lines do not have.
create table {schema}._history (
  key bigint not null,
  due_at bigint not null,
  number bigint not null,
  token bigint not null,
  started_at bigint not null,
  ended_at bigint not null,
  expires_at bigint not null,
  ended_in xid8 not null default pg_current_xact_id(),
  space integer not null,
  job integer not null,
  runner integer not null,
  reason smallint not null,
  lead smallint not null default 0,
  is_final boolean not null,
  nonce text collate "C" not null,
  tenant text collate "C" not null,
  more text not null,
  primary key (key, due_at, number)
);
create index _history_time on {schema}._history (job, due_at, key);
create index _history_expiry on {schema}._history (space, expires_at) where is_final;
create index _history_ended on {schema}._history (ended_in) where reason > 0;
create index _history_nonce on {schema}._history (nonce, key) where nonce <> '';
create index _history_trouble on {schema}._history (space, reason, due_at, key) where reason > {trouble};
create index _history_tenant on {schema}._history (space, tenant, due_at, key) where tenant <> '';
create index _history_range on {schema}._history (space, started_at) where token < 0 and is_final;

-- How many fires ended how, by the hour they were due in. Each connection counts in rows of its own, so that none waits for another.
create table {schema}._counts (
  space integer not null,
  hour bigint not null,
  outcome smallint not null,
  backend integer not null,
  fires bigint not null,
  primary key (space, hour, outcome, backend)
) with (fillfactor = 50);

create table {schema}._notes (
  key bigint not null,
  token bigint not null,
  notes text not null,
  primary key (key, token)
);

create table {schema}._steps (
  key bigint not null,
  due_at bigint not null,
  nonce text collate "C" not null,
  step text collate "C" not null,
  state text collate "C" not null,
  token bigint not null,
  result text not null,
  begun_at bigint not null,
  ended_at bigint,
  primary key (key, due_at, nonce, step)
);

create table {schema}._instances (
  namespace text collate "C" not null,
  id text collate "C" not null,
  number integer not null unique,
  state text collate "C" not null,
  drain boolean not null,
  session boolean,
  renewals bigint not null,
  beat bigint not null,
  started_at bigint not null,
  renewed_at bigint not null,
  lease_ms bigint not null,
  ended_at bigint,
  record text not null,
  primary key (namespace, id)
) with (fillfactor = 50);
create index _instances_live on {schema}._instances (namespace, id) where ended_at is null;
create index _instances_ended on {schema}._instances (namespace, ended_at) where ended_at is not null;

-- The operator log. `schedule` is empty for lines about anything else.
create table {schema}._activity (
  namespace text collate "C" not null,
  at bigint not null,
  id text collate "C" not null,
  schedule text collate "C" not null,
  expires_at bigint not null,
  line text not null,
  primary key (namespace, at, id)
);
create index _activity_schedule on {schema}._activity (namespace, schedule, at, id) where schedule <> '';
create index _activity_expiry on {schema}._activity (namespace, expires_at);

create table {schema}._apps (
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  record text not null,
  primary key (namespace, name)
);
