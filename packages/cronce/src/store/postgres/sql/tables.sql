-- Times are epoch milliseconds. Names are compared byte by byte, whatever the language of the database.
-- In numbers there are no nulls: -9223372036854775808 stands for "none", so that rows have a fixed width up to their texts.

create table {schema}._meta (
  only_row boolean primary key default true check (only_row),
  system_id text,
  database_id text,
  timeline bigint,
  epoch bigint not null default 1
);
insert into {schema}._meta default values;

create table {schema}._namespaces (
  namespace text collate "C" primary key,
  -- The highest version, token counter and number of any schedule whose name was forgotten.
  floor bigint not null,
  -- The latest transaction that erased records: a reader whose snapshot did not see it may have missed ends.
  erased_in xid8
);

-- A schedule's key outlives the schedule: a fire is identified by its name, and history refers to the key.
-- What a removed schedule leaves behind is where its successor goes on.
create table {schema}._names (
  key bigint generated always as identity primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null default 0,
  tokens bigint not null default 0,
  ended bigint not null default 0,
  mark bigint not null default -9223372036854775808,
  unique (namespace, name)
);

create table {schema}._jobs (
  number integer generated always as identity primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  unique (namespace, name)
);

-- Numbers of instances, in claims and history.
create table {schema}._runners (
  number integer generated always as identity primary key,
  namespace text collate "C" not null,
  instance text collate "C" not null,
  unique (namespace, instance)
);

-- Immutable: { definition, revision, source, createdAt, updatedAt } as JSON. A process reads each once.
create table {schema}._definitions (
  id bigint generated always as identity primary key,
  body text not null
);

-- Changes at human rate.
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

-- Changes with every fire: a claim writes from wake_at to runner, a settlement from version to last_ok_at. What lies together is
-- short in the log. `more` is null for a plain schedule, whose open run, if any, is in due_at, token, claim, started_at and runner.
create table {schema}._clocks (
  key bigint not null,
  definition bigint not null,
  job integer not null,
  bucket smallint not null,
  format smallint not null,
  trimmed_before bigint not null,
  wake_at bigint not null,
  next_at bigint not null,
  planned_to bigint not null,
  mark bigint not null,
  tokens bigint not null,
  fired bigint not null,
  due_at bigint not null,
  token bigint not null,
  claim bigint not null,
  started_at bigint not null,
  version bigint not null,
  runner integer not null,
  failed_in_row integer not null,
  ended bigint not null,
  last_due bigint not null,
  last_ok_due bigint not null,
  last_ok_at bigint not null,
  open_fires integer not null,
  zone text,
  more text,
  primary key (key)
) with (fillfactor = 33, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index _clocks_due on {schema}._clocks (job, wake_at);
create index _clocks_open on {schema}._clocks (key) where open_fires > 0;
create index _clocks_newer on {schema}._clocks (key) where format > 1;

-- One row for a run that ended, or for a fire or range that ended without one. `more`: what most lines do not have.
create table {schema}._history (
  key bigint not null,
  due_at bigint not null,
  number bigint not null,
  token bigint not null,
  started_at bigint not null,
  ended_at bigint not null,
  planned_at bigint not null,
  ready_at bigint not null,
  expires_at bigint not null,
  until_at bigint not null,
  job integer not null,
  runner integer not null,
  round integer not null,
  attempt integer not null,
  outcome smallint not null,
  reason smallint not null,
  kind smallint not null,
  is_final boolean not null,
  ended_in xid8 not null default pg_current_xact_id(),
  nonce text collate "C" not null,
  tenant text collate "C",
  more text,
  primary key (key, due_at, nonce, number)
);
-- Conditions that always hold keep an index from being chosen for what another one is meant for, by a plan made on an empty table.
create index _history_time on {schema}._history (due_at) where outcome >= 0 and is_final;
create unique index _history_nonce on {schema}._history (key, nonce) where nonce <> '' and is_final;
create index _history_ended on {schema}._history (ended_in) where outcome >= 0;

-- What an instance holds: the keys of its claims whose clock still names it.
create table {schema}._claims (
  runner integer not null,
  claim bigint not null,
  claimed_at bigint not null,
  keys bigint[] not null,
  primary key (runner, claim)
);

-- Open runs that count against limits, and a row for each limit, which is locked while they are counted.
create table {schema}._slots (
  namespace text collate "C" not null,
  slot text collate "C" not null,
  changed_day integer not null,
  primary key (namespace, slot)
);
create table {schema}._holds (
  namespace text collate "C" not null,
  slot text collate "C" not null,
  key bigint not null,
  token bigint not null,
  primary key (namespace, slot, key, token)
);
create index _holds_key on {schema}._holds (key);
