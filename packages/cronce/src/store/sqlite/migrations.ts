import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store-error.ts'
import { statement } from './driver.ts'
import { getMeta, setMeta } from './meta.ts'

/** `cron` in ASCII: marks a file that nobody used before us. */
const APPLICATION_ID = 0x63726f6e

interface Migration {
  /** The oldest schema whose code can still work on the migrated tables: one release back must. */
  readonly compatible: number
  readonly sql: string
}

/**
 * Times are epoch milliseconds. `record` and `state` are JSON and whole; the columns beside them are what is asked for.
 * What is due at one instant is found in the order of names, which is also the order of the records: fewer pages are written.
 * The definition stands apart, since it may be long and rarely changes, while SQLite rewrites whole rows.
 * `cronce_ends` is a log of the latest ends: a run's if it has a token, else a fire's. SQLite has one writer at a time, so its numbers
 * follow the order of commits.
 */
const FIRST = `
create table cronce_meta (
  namespace text not null,
  key text not null,
  value text not null,
  primary key (namespace, key)
) strict, without rowid;

create table cronce_schedules (
  key integer primary key,
  namespace text not null,
  id text not null,
  format integer not null,
  version integer not null,
  revision integer not null,
  job text not null,
  bucket integer not null,
  wake_at integer,
  tenant text,
  app text,
  status text not null,
  state text not null,
  unique (namespace, id)
) strict;
create index cronce_schedules_due on cronce_schedules (namespace, job, wake_at, id, bucket, format) where wake_at is not null;
create index cronce_schedules_job on cronce_schedules (namespace, job, id);
create index cronce_schedules_tenant on cronce_schedules (namespace, tenant, id) where tenant is not null;
create index cronce_schedules_app on cronce_schedules (namespace, app, id) where app is not null;
create index cronce_schedules_status on cronce_schedules (namespace, status, id);
create index cronce_schedules_format on cronce_schedules (namespace, format) where format > 1;

create table cronce_definitions (
  key integer primary key,
  definition text not null
) strict;

create table cronce_fires (
  namespace text not null,
  schedule text not null,
  due_at integer not null,
  nonce text not null,
  job text not null,
  outcome text not null,
  ended_at integer,
  number integer,
  expires_at integer,
  until_at integer,
  tenant text,
  record text not null,
  primary key (namespace, schedule, due_at, nonce)
) strict, without rowid;
create unique index cronce_fires_nonce on cronce_fires (namespace, nonce, schedule) where nonce <> '';
create index cronce_fires_time on cronce_fires (namespace, due_at, schedule, nonce);
create index cronce_fires_job on cronce_fires (namespace, job, due_at, schedule, nonce);
create index cronce_fires_outcome on cronce_fires (namespace, outcome, due_at, schedule, nonce);
create index cronce_fires_trouble on cronce_fires (namespace, schedule, outcome, due_at, nonce)
 where outcome <> 'open' and outcome <> 'succeeded';
create index cronce_fires_tenant on cronce_fires (namespace, tenant, due_at, schedule, nonce) where tenant is not null;
create index cronce_fires_number on cronce_fires (namespace, schedule, number, ended_at) where number is not null;
create index cronce_fires_expiry on cronce_fires (namespace, expires_at) where expires_at is not null;
create index cronce_fires_range on cronce_fires (namespace, until_at) where until_at is not null;
create index cronce_fires_schedule_range on cronce_fires (namespace, schedule, until_at) where until_at is not null;

create table cronce_runs (
  namespace text not null,
  schedule text not null,
  token text not null,
  due_at integer not null,
  nonce text not null,
  job text not null,
  instance text not null,
  started_at integer not null,
  outcome text not null,
  record text not null,
  primary key (namespace, schedule, token)
) strict, without rowid;
create index cronce_runs_held on cronce_runs (namespace, instance) where outcome = 'open';
create index cronce_runs_fire on cronce_runs (namespace, schedule, due_at, nonce, started_at, token);
create index cronce_runs_time on cronce_runs (namespace, started_at, schedule, token);
create index cronce_runs_schedule on cronce_runs (namespace, schedule, started_at, token);
create index cronce_runs_job on cronce_runs (namespace, job, started_at, schedule, token);
create index cronce_runs_instance on cronce_runs (namespace, instance, started_at, schedule, token);
create index cronce_runs_outcome on cronce_runs (namespace, outcome, started_at, schedule, token);
create index cronce_runs_trouble on cronce_runs (namespace, schedule, outcome, started_at, token)
 where outcome <> 'open' and outcome <> 'succeeded';

create table cronce_ends (
  number integer primary key autoincrement,
  namespace text not null,
  schedule text not null,
  due_at integer not null,
  nonce text not null,
  token text not null
) strict;

create table cronce_run_slots (
  namespace text not null,
  slot text not null,
  schedule text not null,
  token text not null,
  primary key (namespace, slot, schedule, token)
) strict, without rowid;

create table cronce_run_notes (
  namespace text not null,
  schedule text not null,
  token text not null,
  notes text not null,
  primary key (namespace, schedule, token)
) strict;

create table cronce_steps (
  namespace text not null,
  schedule text not null,
  due_at integer not null,
  nonce text not null,
  step text not null,
  state text not null,
  token text not null,
  result text not null,
  begun_at integer not null,
  ended_at integer,
  primary key (namespace, schedule, due_at, nonce, step)
) strict;

create table cronce_instances (
  namespace text not null,
  id text not null,
  state text not null,
  drain integer not null,
  renewals integer not null,
  beat integer not null,
  started_at integer not null,
  renewed_at integer not null,
  boot text not null,
  renewed_mono integer not null,
  lease_ms integer not null,
  ended_at integer,
  record text not null,
  primary key (namespace, id)
) strict, without rowid;
create index cronce_instances_ended on cronce_instances (namespace, ended_at, id);

create table cronce_apps (
  namespace text not null,
  name text not null,
  version integer not null,
  record text not null,
  primary key (namespace, name)
) strict, without rowid;
`

/** Number n makes schema n of schema n - 1. Never change one that was released: add the next. */
export const MIGRATIONS: readonly Migration[] = [{ compatible: 1, sql: FIRST }]

/** Bring the tables up to date. Runs inside the write lock, so of two processes that start together one finds it done. */
export function migrate(db: DatabaseSync, file: string, migrations: readonly Migration[] = MIGRATIONS): void {
  const from = schemaOf(db)
  requireCompatible(db, file, migrations.length)
  if (from === 0) mark(db)
  for (const [index, migration] of migrations.entries()) {
    if (index < from) continue
    db.exec(migration.sql)
    setMeta(db, '', 'schema', String(index + 1))
    setMeta(db, '', 'compatible', String(migration.compatible))
  }
}

/** Refuse tables that this version would misread. */
export function requireCompatible(db: DatabaseSync, file: string, known: number = MIGRATIONS.length): void {
  if (schemaOf(db) <= known) return
  const compatible = Number(getMeta(db, '', 'compatible'))
  if (compatible <= known) return
  throw new StoreError(
    'STORE_SCHEMA_NEWER',
    `${file} was migrated by a newer cronce: it needs one that knows schema ${compatible}, this one knows ${known}.`,
    { hint: 'Deploy the newer version here too.' },
  )
}

function schemaOf(db: DatabaseSync): number {
  const tables = statement(db, "select 1 from sqlite_schema where type = 'table' and name = 'cronce_meta'").get()
  return tables === undefined ? 0 : Number(getMeta(db, '', 'schema') ?? 0)
}

/** Only a file that was empty is marked: another application's marks, and its own tables beside ours, are its own business. */
function mark(db: DatabaseSync): void {
  const tables = statement(db, 'select 1 from sqlite_schema limit 1').get()
  const application = statement(db, 'pragma application_id').get()
  if (tables !== undefined || Number(application?.application_id) !== 0) return
  db.exec(`pragma application_id = ${APPLICATION_ID}`)
}
