/**
 * Times are epoch milliseconds. `state` and `record` are JSON texts and whole; the columns beside them are what is asked for.
 * They are texts and not json, since PostgreSQL's JSON can't read every string that JavaScript's can write.
 *
 * Tables are split by how they are written. `_schedules` changes at human rate. `_clocks` changes with every fire: narrow in
 * indexes, with room on its pages. What is open, a fire with its run, is small, and comes and goes; what has ended is appended.
 * Names are compared byte by byte, whatever the language of the database.
 *
 * `ended_in` is the transaction that ended a run, or a fire that no run ended: what a snapshot did not see yet is found by it.
 * `erased_in` is the latest transaction that erased records: a reader whose snapshot did not see it may have missed ends.
 *
 * Some indexes leave out what is never there, such as an empty outcome. It keeps them from being chosen for what another index is
 * meant for, by a planner that has seen the table empty: only whoever says that it does not want those rows can use them.
 */
export const tables = (schema: string): string => `
create table ${schema}._meta (
  only_row boolean primary key default true check (only_row),
  system_id text,
  database_id text,
  timeline bigint,
  epoch bigint not null default 1
);
insert into ${schema}._meta default values;

create table ${schema}._namespaces (
  namespace text collate "C" primary key,
  floor bigint not null,
  erased_in xid8
);

create table ${schema}._schedules (
  namespace text collate "C" not null,
  id text collate "C" not null,
  format smallint not null,
  revision bigint not null,
  job text collate "C" not null,
  tenant text collate "C",
  app text collate "C",
  status text collate "C" not null,
  definition text not null,
  primary key (namespace, id)
);
create index _schedules_job on ${schema}._schedules (namespace, job, id) where status <> '';
create index _schedules_tenant on ${schema}._schedules (namespace, tenant, id) where tenant is not null;
create index _schedules_app on ${schema}._schedules (namespace, app, id) where app is not null;
create index _schedules_status on ${schema}._schedules (namespace, status, id) where status <> 'active';

create table ${schema}._clocks (
  namespace text collate "C" not null,
  id text collate "C" not null,
  format smallint not null,
  version bigint not null,
  tokens bigint not null,
  job text collate "C" not null,
  bucket smallint not null,
  wake_at bigint,
  revision bigint not null,
  app text collate "C",
  status text collate "C" not null,
  state text not null,
  primary key (namespace, id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index _clocks_due on ${schema}._clocks (namespace, job, wake_at) where wake_at is not null;
create index _clocks_newer on ${schema}._clocks (namespace) where format > 1;

create table ${schema}._open (
  namespace text collate "C" not null,
  schedule text collate "C" not null,
  due_at bigint not null,
  nonce text collate "C" not null,
  job text collate "C" not null,
  tenant text collate "C",
  fire text,
  run text,
  token text collate "C",
  instance text collate "C",
  started_at bigint,
  slots text,
  primary key (namespace, schedule, due_at, nonce)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create unique index _open_nonce on ${schema}._open (namespace, schedule, nonce) where nonce <> '';
create index _open_instance on ${schema}._open (namespace, instance) where instance is not null;

create table ${schema}._fires (
  namespace text collate "C" not null,
  schedule text collate "C" not null,
  due_at bigint not null,
  nonce text collate "C" not null,
  job text collate "C" not null,
  tenant text collate "C",
  outcome text collate "C" not null,
  ended_at bigint not null,
  number bigint,
  expires_at bigint,
  until_at bigint,
  record text not null,
  ended_in xid8,
  primary key (namespace, schedule, due_at, nonce)
);
create unique index _fires_nonce on ${schema}._fires (namespace, schedule, nonce) where nonce <> '';
create index _fires_time on ${schema}._fires (namespace, due_at, schedule, nonce) where outcome <> '';
create index _fires_job on ${schema}._fires (namespace, job, due_at, schedule, nonce) where outcome <> '';
create index _fires_trouble on ${schema}._fires (namespace, outcome, due_at, schedule, nonce) where outcome <> 'succeeded';
create index _fires_tenant on ${schema}._fires (namespace, tenant, due_at, schedule, nonce) where tenant is not null;
create index _fires_expiry on ${schema}._fires (namespace, expires_at) where expires_at is not null;
create index _fires_ended on ${schema}._fires (namespace, ended_in) where ended_in is not null;
create index _fires_range on ${schema}._fires (namespace, until_at) where until_at is not null;

create table ${schema}._runs (
  namespace text collate "C" not null,
  schedule text collate "C" not null,
  token text collate "C" not null,
  due_at bigint not null,
  nonce text collate "C" not null,
  job text collate "C" not null,
  instance text collate "C" not null,
  started_at bigint not null,
  outcome text collate "C" not null,
  record text not null,
  ended_in xid8 default pg_current_xact_id(),
  primary key (namespace, schedule, due_at, nonce, token)
);
create index _runs_time on ${schema}._runs (namespace, started_at, schedule, token);
create index _runs_job on ${schema}._runs (namespace, job, started_at, schedule, token);
create index _runs_trouble on ${schema}._runs (namespace, outcome, started_at, schedule, token) where outcome <> 'succeeded';
create index _runs_ended on ${schema}._runs (namespace, ended_in) where ended_in is not null;
create index _runs_token on ${schema}._runs (namespace, schedule, token) where outcome <> '';
create index _runs_instance on ${schema}._runs (namespace, instance, started_at) where outcome <> '';

create table ${schema}._slots (
  namespace text collate "C" not null,
  slot text collate "C" not null,
  used integer not null,
  changed_day integer not null,
  primary key (namespace, slot)
) with (fillfactor = 50);
create index _slots_day on ${schema}._slots (namespace, changed_day) where changed_day > 0;

create table ${schema}._run_notes (
  namespace text collate "C" not null,
  schedule text collate "C" not null,
  token text collate "C" not null,
  notes text not null,
  primary key (namespace, schedule, token)
);

create table ${schema}._steps (
  namespace text collate "C" not null,
  schedule text collate "C" not null,
  due_at bigint not null,
  nonce text collate "C" not null,
  step text collate "C" not null,
  state text collate "C" not null,
  token text collate "C" not null,
  result text not null,
  begun_at bigint not null,
  ended_at bigint,
  primary key (namespace, schedule, due_at, nonce, step)
);

create table ${schema}._instances (
  namespace text collate "C" not null,
  id text collate "C" not null,
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
create index _instances_live on ${schema}._instances (namespace, id) where ended_at is null;
create index _instances_ended on ${schema}._instances (namespace, ended_at) where ended_at is not null;

create table ${schema}._apps (
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  record text not null,
  primary key (namespace, name)
);
`
