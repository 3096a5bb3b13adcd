import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store-error.ts'
import { statement } from './driver.ts'
import { getMeta, setMeta } from './meta.ts'

/** `cron` in ASCII: marks a file that cronce created. */
const APPLICATION_ID = 0x63726f6e

interface Migration {
  /** The oldest schema whose code can still work on the migrated tables: one release back must. */
  readonly compatible: number
  readonly sql: string
}

/**
 * Times are epoch milliseconds. `line` and `state` are JSON and whole; the columns beside them are what queries ask for.
 * What is due at one instant is found in the order of names, which is also the order of the history: fewer pages are written.
 * The definition has a row of its own, since it may be long and rarely changes, while SQLite rewrites whole rows.
 * `mark` is the highest due time of a fire without a nonce that the schedule ever had: what lies beyond it needs no look-up.
 * `cronce_open` is an index of what is open in the states, `open_fires` and `held_slots` say whether a look at an index is worth it. `position` follows the order of commits: SQLite has one writer at a time.
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
  mark integer,
  open_fires integer not null,
  held_slots integer not null,
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

create table cronce_open (
  namespace text not null,
  schedule text not null,
  due_at integer not null,
  nonce text not null,
  job text not null,
  tenant text,
  token text,
  instance text,
  primary key (namespace, schedule, due_at, nonce)
) strict, without rowid;
create index cronce_open_time on cronce_open (namespace, due_at, schedule, nonce);
create index cronce_open_held on cronce_open (namespace, instance) where token is not null;

create table cronce_history (
  position integer primary key autoincrement,
  namespace text not null,
  schedule text not null,
  number integer not null,
  due_at integer not null,
  nonce text not null,
  is_final integer not null,
  job text not null,
  tenant text,
  outcome text not null,
  ended_at integer not null,
  expires_at integer not null,
  until_at integer,
  token text,
  instance text,
  line text not null
) strict;
create unique index cronce_history_fire on cronce_history (namespace, schedule, due_at, nonce, number);
create index cronce_history_nonce on cronce_history (namespace, nonce, schedule) where nonce <> '';
create index cronce_history_time on cronce_history (namespace, due_at, schedule, nonce);
create index cronce_history_job on cronce_history (namespace, job, due_at, schedule, nonce);
create index cronce_history_outcome on cronce_history (namespace, outcome, due_at, schedule, nonce)
 where outcome <> 'succeeded';
create index cronce_history_trouble on cronce_history (namespace, schedule, outcome, due_at, nonce)
 where outcome <> 'succeeded';
create index cronce_history_tenant on cronce_history (namespace, tenant, due_at, schedule, nonce)
 where tenant is not null;
create index cronce_history_expiry on cronce_history (namespace, expires_at) where is_final = 1;
create index cronce_history_range on cronce_history (namespace, until_at) where until_at is not null;
create index cronce_history_schedule_range on cronce_history (namespace, schedule, until_at) where until_at is not null;
create unique index cronce_history_token on cronce_history (namespace, schedule, token) where token is not null;

create table cronce_counts (
  namespace text not null,
  hour integer not null,
  outcome text not null,
  fires integer not null,
  primary key (namespace, hour, outcome)
) strict, without rowid;

create table cronce_run_slots (
  namespace text not null,
  slot text not null,
  schedule text not null,
  token text not null,
  primary key (namespace, slot, schedule, token)
) strict, without rowid;
create index cronce_run_slots_schedule on cronce_run_slots (namespace, schedule);

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

create table cronce_activity (
  namespace text not null,
  at integer not null,
  id text not null,
  schedule text,
  expires_at integer not null,
  line text not null,
  primary key (namespace, at, id)
) strict, without rowid;
create index cronce_activity_schedule on cronce_activity (namespace, schedule, at, id) where schedule is not null;
create index cronce_activity_expiry on cronce_activity (namespace, expires_at);

create table cronce_apps (
  namespace text not null,
  name text not null,
  version integer not null,
  record text not null,
  primary key (namespace, name)
) strict, without rowid;
`

/** Number n migrates schema n - 1 to schema n. Never change a released one: add the next. */
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

/** Only an empty file is marked: the marks of another application, whose tables may be in the same file, are left alone. */
function mark(db: DatabaseSync): void {
  const tables = statement(db, 'select 1 from sqlite_schema limit 1').get()
  const application = statement(db, 'pragma application_id').get()
  if (tables !== undefined || Number(application?.application_id) !== 0) return
  db.exec(`pragma application_id = ${APPLICATION_ID}`)
}
