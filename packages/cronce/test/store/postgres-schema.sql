-- Rendered by postgres-migrate.test.ts. To write it anew, run that test with UPDATE_SCHEMA=1.

table _apps (
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  record text not null,
  PRIMARY KEY (namespace, name)
);

table _clocks (
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
  PRIMARY KEY (namespace, id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
CREATE INDEX _clocks_due ON _clocks USING btree (namespace, job, wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX _clocks_newer ON _clocks USING btree (namespace) WHERE (format > 1);

table _fires (
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
  PRIMARY KEY (namespace, schedule, due_at, nonce)
);
CREATE INDEX _fires_ended ON _fires USING btree (namespace, ended_in) WHERE (ended_in IS NOT NULL);
CREATE INDEX _fires_expiry ON _fires USING btree (namespace, expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX _fires_job ON _fires USING btree (namespace, job, due_at, schedule, nonce) WHERE (outcome <> ''::text);
CREATE UNIQUE INDEX _fires_nonce ON _fires USING btree (namespace, schedule, nonce) WHERE (nonce <> ''::text);
CREATE INDEX _fires_range ON _fires USING btree (namespace, until_at) WHERE (until_at IS NOT NULL);
CREATE INDEX _fires_tenant ON _fires USING btree (namespace, tenant, due_at, schedule, nonce) WHERE (tenant IS NOT NULL);
CREATE INDEX _fires_time ON _fires USING btree (namespace, due_at, schedule, nonce) WHERE (outcome <> ''::text);
CREATE INDEX _fires_trouble ON _fires USING btree (namespace, outcome, due_at, schedule, nonce) WHERE (outcome <> 'succeeded'::text);

table _instances (
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
  PRIMARY KEY (namespace, id)
) with (fillfactor=50);
CREATE INDEX _instances_ended ON _instances USING btree (namespace, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX _instances_live ON _instances USING btree (namespace, id) WHERE (ended_at IS NULL);

table _meta (
  only_row boolean not null default true,
  system_id text,
  database_id text,
  timeline bigint,
  epoch bigint not null default 1,
  PRIMARY KEY (only_row),
  CHECK (only_row)
);

table _migrations (
  number integer not null,
  name text not null,
  breaking boolean not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  PRIMARY KEY (number)
);

table _namespaces (
  namespace text collate "C" not null,
  floor bigint not null,
  erased_in xid8,
  PRIMARY KEY (namespace)
);

table _open (
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
  PRIMARY KEY (namespace, schedule, due_at, nonce)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
CREATE INDEX _open_instance ON _open USING btree (namespace, instance) WHERE (instance IS NOT NULL);
CREATE UNIQUE INDEX _open_nonce ON _open USING btree (namespace, schedule, nonce) WHERE (nonce <> ''::text);

table _run_notes (
  namespace text collate "C" not null,
  schedule text collate "C" not null,
  token text collate "C" not null,
  notes text not null,
  PRIMARY KEY (namespace, schedule, token)
);

table _runs (
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
  PRIMARY KEY (namespace, schedule, due_at, nonce, token)
);
CREATE INDEX _runs_ended ON _runs USING btree (namespace, ended_in) WHERE (ended_in IS NOT NULL);
CREATE INDEX _runs_instance ON _runs USING btree (namespace, instance, started_at) WHERE (outcome <> ''::text);
CREATE INDEX _runs_job ON _runs USING btree (namespace, job, started_at, schedule, token);
CREATE INDEX _runs_time ON _runs USING btree (namespace, started_at, schedule, token);
CREATE INDEX _runs_token ON _runs USING btree (namespace, schedule, token) WHERE (outcome <> ''::text);
CREATE INDEX _runs_trouble ON _runs USING btree (namespace, outcome, started_at, schedule, token) WHERE (outcome <> 'succeeded'::text);

table _schedules (
  namespace text collate "C" not null,
  id text collate "C" not null,
  format smallint not null,
  revision bigint not null,
  job text collate "C" not null,
  tenant text collate "C",
  app text collate "C",
  status text collate "C" not null,
  definition text not null,
  PRIMARY KEY (namespace, id)
);
CREATE INDEX _schedules_app ON _schedules USING btree (namespace, app, id) WHERE (app IS NOT NULL);
CREATE INDEX _schedules_job ON _schedules USING btree (namespace, job, id) WHERE (status <> ''::text);
CREATE INDEX _schedules_status ON _schedules USING btree (namespace, status, id) WHERE (status <> 'active'::text);
CREATE INDEX _schedules_tenant ON _schedules USING btree (namespace, tenant, id) WHERE (tenant IS NOT NULL);

table _slots (
  namespace text collate "C" not null,
  slot text collate "C" not null,
  used integer not null,
  changed_day integer not null,
  PRIMARY KEY (namespace, slot)
) with (fillfactor=50);
CREATE INDEX _slots_day ON _slots USING btree (namespace, changed_day) WHERE (changed_day > 0);

table _steps (
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
  PRIMARY KEY (namespace, schedule, due_at, nonce, step)
);

view apps (
  namespace text collate "C",
  app text collate "C",
  active_deployment text,
  activated_deployment text,
  deployments json,
  refused json
);

view fires (
  namespace text collate "C",
  schedule text collate "C",
  due_at timestamp with time zone,
  nonce text collate "C",
  job text collate "C",
  tenant text collate "C",
  kind text,
  state text collate "C",
  reason text,
  detail text,
  round bigint,
  attempt bigint,
  planned_at timestamp with time zone,
  ready_at timestamp with time zone,
  ended_at timestamp with time zone,
  until_at timestamp with time zone,
  instants bigint,
  expires_at timestamp with time zone,
  input json,
  due_ms bigint
);

view instances (
  namespace text collate "C",
  instance text collate "C",
  app text,
  deployment text,
  host text,
  pid bigint,
  version text,
  state text collate "C",
  drain boolean,
  session boolean,
  expired boolean,
  running bigint,
  concurrency bigint,
  clock_offset_ms double precision,
  jobs json,
  zone_data text,
  started_at timestamp with time zone,
  renewed_at timestamp with time zone,
  lease_until timestamp with time zone,
  ended_at timestamp with time zone
);

view runs (
  namespace text collate "C",
  schedule text collate "C",
  token text collate "C",
  due_at timestamp with time zone,
  nonce text collate "C",
  job text collate "C",
  round bigint,
  attempt bigint,
  instance text collate "C",
  state text collate "C",
  reason text,
  detail text,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  lateness_ms bigint,
  duration_ms bigint,
  error_name text,
  error_code text,
  error_message text,
  error_stack text,
  result json,
  due_ms bigint,
  started_ms bigint
);

view schedules (
  namespace text collate "C",
  schedule text collate "C",
  job text collate "C",
  tenant text collate "C",
  app text collate "C",
  state text collate "C",
  revision bigint,
  next_at timestamp with time zone,
  trigger_kind text,
  cron text,
  tz text,
  every_ms bigint,
  open_fires integer,
  last_due_at timestamp with time zone,
  last_succeeded_due_at timestamp with time zone,
  last_succeeded_at timestamp with time zone,
  failed_in_row bigint,
  fired bigint,
  paused_at timestamp with time zone,
  paused_until timestamp with time zone,
  pause_note text,
  pause_author text,
  retired_at timestamp with time zone,
  created_at timestamp with time zone,
  updated_at timestamp with time zone,
  wake_at timestamp with time zone,
  definition json
);

view steps (
  namespace text collate "C",
  schedule text collate "C",
  due_at timestamp with time zone,
  nonce text collate "C",
  step text collate "C",
  state text collate "C",
  token text collate "C",
  result json,
  begun_at timestamp with time zone,
  ended_at timestamp with time zone,
  due_ms bigint
);

function _apply_1(text, text, text, text, text, text, text, text); -- b8114de278f074ceb10119d0e1d6d793
function _apply_all_1(text, text, text, text, text, text, text, text); -- cab5d220d9ac1ecb779c0e57eb3d4802
function _apply_slots_1(text, text, text, text, text, text, text, text); -- 756e29e07fda1dfe508e4f0c3b386e3f
function _apply_trims_1(text, text, text, text, text, text, text, text); -- 42648ff950fe8f3554430a9b8b000ab8
function _beat_1(text, text); -- 4eaca229741ea051b983219b5261283f
function _due_1(text, text, text, text); -- 00c823292f48f05697866469f4699f30
function _load_1(text, text); -- 6515109f8e66b4dc4577113dc5055e2d
function _lock_1(text, text, text); -- aeb693e2972dd6f4f59ef143a787145c
function _prune_1(text, text); -- 3fc5c12eb013e7a9bd1e3f16b89ef4dc
