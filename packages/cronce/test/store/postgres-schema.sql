-- Rendered by postgres-migrate.test.ts. To write it anew, run that test with UPDATE_SCHEMA=1.

table _activity (
  namespace text collate "C" not null,
  at bigint not null,
  id text collate "C" not null,
  schedule text collate "C" not null,
  expires_at bigint not null,
  line text not null,
  PRIMARY KEY (namespace, at, id)
);
CREATE INDEX _activity_expiry ON _activity USING btree (namespace, expires_at);
CREATE INDEX _activity_schedule ON _activity USING btree (namespace, schedule, at, id) WHERE (schedule <> ''::text);

table _apps (
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  record text not null,
  PRIMARY KEY (namespace, name)
);

table _claims (
  id bigint not null,
  runner integer not null,
  claim bigint not null,
  claimed_at bigint not null,
  keys bigint[] not null,
  PRIMARY KEY (id)
);
CREATE INDEX _claims_runner ON _claims USING btree (runner, id);

table _clocks (
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
  PRIMARY KEY (key)
) with (fillfactor=33, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
CREATE INDEX _clocks_due ON _clocks USING btree (job, wake_at) WHERE (wake_at > '-9007199254740991'::bigint);
CREATE INDEX _clocks_newer ON _clocks USING btree (key) WHERE (format > 1);

table _counts (
  space integer not null,
  hour bigint not null,
  outcome smallint not null,
  backend integer not null,
  fires bigint not null,
  PRIMARY KEY (space, hour, outcome, backend)
) with (fillfactor=50);

table _definitions (
  id bigint not null,
  revision bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  source text not null,
  definition text not null,
  PRIMARY KEY (id)
);

table _history (
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
  PRIMARY KEY (key, due_at, number)
);
CREATE INDEX _history_ended ON _history USING btree (ended_in) WHERE (reason > 0);
CREATE INDEX _history_expiry ON _history USING btree (space, expires_at) WHERE is_final;
CREATE INDEX _history_nonce ON _history USING btree (nonce, key) WHERE (nonce <> ''::text);
CREATE INDEX _history_range ON _history USING btree (space, started_at) WHERE ((token < 0) AND is_final);
CREATE INDEX _history_tenant ON _history USING btree (space, tenant, due_at, key) WHERE (tenant <> ''::text);
CREATE INDEX _history_time ON _history USING btree (job, due_at, key);
CREATE INDEX _history_trouble ON _history USING btree (space, reason, due_at, key) WHERE (reason > 16);

table _holds (
  namespace text collate "C" not null,
  slot text collate "C" not null,
  key bigint not null,
  token bigint not null,
  PRIMARY KEY (namespace, slot, key, token)
);
CREATE INDEX _holds_key ON _holds USING btree (key) WHERE (slot <> ''::text);

table _instances (
  namespace text collate "C" not null,
  id text collate "C" not null,
  number integer not null,
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
  UNIQUE (number),
  PRIMARY KEY (namespace, id)
) with (fillfactor=50);
CREATE INDEX _instances_ended ON _instances USING btree (namespace, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX _instances_live ON _instances USING btree (namespace, id) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX _instances_number_key ON _instances USING btree (number);

table _jobs (
  number integer not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  UNIQUE (namespace, name),
  PRIMARY KEY (number)
);
CREATE UNIQUE INDEX _jobs_namespace_name_key ON _jobs USING btree (namespace, name);

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

table _names (
  key bigint not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null default 0,
  tokens bigint not null default 0,
  ended bigint not null default 0,
  mark bigint not null default '-9007199254740991'::bigint,
  trimmed_before bigint not null default '-9007199254740991'::bigint,
  gone_at bigint not null default '-9007199254740991'::bigint,
  UNIQUE (namespace, name),
  PRIMARY KEY (key)
);
CREATE INDEX _names_gone ON _names USING btree (namespace, gone_at) WHERE (gone_at > '-9007199254740991'::bigint);
CREATE UNIQUE INDEX _names_namespace_name_key ON _names USING btree (namespace, name);

table _namespaces (
  number integer not null,
  namespace text collate "C" not null,
  floor bigint not null default 0,
  erased_in xid8,
  UNIQUE (namespace),
  PRIMARY KEY (number)
);
CREATE UNIQUE INDEX _namespaces_namespace_key ON _namespaces USING btree (namespace);

table _notes (
  key bigint not null,
  token bigint not null,
  notes text not null,
  PRIMARY KEY (key, token)
);

table _open (
  key bigint not null,
  due_at bigint not null,
  token bigint not null,
  claim bigint not null,
  started_at bigint not null,
  runner integer not null,
  nonce text collate "C" not null,
  tenant text collate "C" not null,
  cancel text not null,
  PRIMARY KEY (key, due_at, nonce)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);

table _runners (
  number integer not null,
  namespace text collate "C" not null,
  instance text collate "C" not null,
  gone_at bigint not null default '-9007199254740991'::bigint,
  UNIQUE (namespace, instance),
  PRIMARY KEY (number)
);
CREATE INDEX _runners_gone ON _runners USING btree (namespace, gone_at) WHERE (gone_at > '-9007199254740991'::bigint);
CREATE UNIQUE INDEX _runners_namespace_instance_key ON _runners USING btree (namespace, instance);

table _schedules (
  key bigint not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  job text collate "C" not null,
  tenant text collate "C",
  app text collate "C",
  status text collate "C" not null,
  UNIQUE (namespace, name),
  PRIMARY KEY (key)
);
CREATE INDEX _schedules_app ON _schedules USING btree (namespace, app, name) WHERE (app IS NOT NULL);
CREATE INDEX _schedules_job ON _schedules USING btree (namespace, job, name) WHERE (status <> ''::text);
CREATE UNIQUE INDEX _schedules_namespace_name_key ON _schedules USING btree (namespace, name);
CREATE INDEX _schedules_status ON _schedules USING btree (namespace, status, name) WHERE (status <> 'active'::text);
CREATE INDEX _schedules_tenant ON _schedules USING btree (namespace, tenant, name) WHERE (tenant IS NOT NULL);

table _steps (
  key bigint not null,
  due_at bigint not null,
  nonce text collate "C" not null,
  step text collate "C" not null,
  state text collate "C" not null,
  token bigint not null,
  result text not null,
  begun_at bigint not null,
  ended_at bigint,
  PRIMARY KEY (key, due_at, nonce, step)
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
  state text,
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
  token text,
  due_at timestamp with time zone,
  nonce text collate "C",
  job text collate "C",
  round bigint,
  attempt bigint,
  instance text collate "C",
  state text,
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
  due_ms bigint
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
  failed_in_row integer,
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
  token text,
  result json,
  begun_at timestamp with time zone,
  ended_at timestamp with time zone,
  due_ms bigint
);

function _add_activity(_namespace text, _lines json); -- 4775f29509ab1b93b0a2a8e8f72e9179
function _append(_namespace text, _key bigint, _lines json); -- c8d03285ac84c17d9218fb9ab7d29de4
function _apply_1(_namespace text, _header text, _changes text); -- eac527dc6c598a070aa269f31d1ee0ca
function _beat_1(_namespace text, _beat text); -- 36a25af74b50f4b1885036e17f3be535
function _bury_1(_namespace text, _instance text, _renewals text, _hint text); -- 31f5b8a62daa7cab75d26f15db889cd7
function _claim_1(_namespace text, _header text, _key_list text, _version_list text, _not_before_list text, _wake_at_list text, _next_at_list text, _planned_to_list text, _extra_list text, _due_at_list text, _token_list text, _started_at_list text); -- 2f48201f4e5fa3d4e88525f0b3e8a27e
function _claimants(); -- 833b47961a445310a2dd3a798f253501
function _column(_values text, _count integer); -- c182129f0aad64921079a97688111b39
function _count(_space integer, _due bigint[], _reasons smallint[], _tokens bigint[], _sign integer); -- ec9b2eb85678bbfca2140e55d6e41154
function _delete_fires(_keys bigint[], _due bigint[], _nonces text[]); -- a19c5c0e4a55b4f10b94a3eb94ee1982
function _due_1(_namespace text, _jobs text, _patience text, _ahead text, _limit text, _known text); -- bdc61a0d184a1d74c539ff83c72e7cd7
function _ends_1(_namespace text, _snapshot text, _limit text); -- ae28c0e9119f7fb91c6a480394b7b970
function _erase_1(_namespace text, _name text, _limit text); -- 2ce1f57f0acc4c4b2b20a4172655280e
function _finish_claims(_ids bigint[], _settled bigint[]); -- c4a2f28934fcb5c5cfa763dc0076b18d
function _held(_runner integer); -- 1d6f61728f219500d97fbed00306fcba
function _holds_runs(_runner integer); -- 9b84ebe4b6bede8637fe8e56eb856bda
function _instance(i _instances, _now bigint); -- 5228bdb5d7dfcddeac1bcf86766480ac
function _is_expired(_renewed_at bigint, _lease bigint, _now bigint); -- cd5a392d3045d4c9746296a29bb793a6
function _is_prunable(_namespace text, _now bigint); -- 74cb1e8bcc7d5a58708b6a3e25eaa399
function _job(_namespace text, _name text); -- ddcef247b243855c7b8ae92d88659126
function _line(h _history); -- fa08f2e0407c0f33c6082e35238bd503
function _live(_namespace text, _name text, _token bigint); -- e5127a23bdb7351f009ac29263c4942f
function _load_1(_namespace text, _names text); -- 27a9da3427bdb9e0861cb083c1cf1a6b
function _lock_1(_namespace text, _name text, _token text); -- c4b0e9426f6b12f0e120dfbdbfd1a842
function _lock_names(_namespace text, _changes json); -- c33fc1f98e1e707771ad7347cd0fc3ff
function _moment(); -- e3a69ec4146154f7d820ded68c0e7631
function _names_runner(_runner integer, _keys bigint[]); -- 78cc46a9f24d8c77fad6ec623d3fe5f7
function _orphans(_namespace text); -- c29883e8b1df1d9ca93d36e1a886f87e
function _prune_1(_namespace text, _limit text); -- f7ce54dd28ad00f66c4bfc6784412105
function _renew(_namespace text, _instance text, _lease bigint, _always boolean, _now bigint); -- a2c57f35f487748870453cf0adec5c72
function _renewals(_renewals bigint, _runner integer); -- f12780461ece618e176bab1dd054bf15
function _runner(_namespace text, _instance text); -- fd6b1b26aa93121f1c343e88051be854
function _settle_1(_namespace text, _header text, _key_list text, _version_list text, _not_before_list text, _failed_in_row_list text, _last_due_list text, _last_ok_due_list text, _last_ok_at_list text, _started_at_list text, _lead_list text, _ended_at_list text, _expires_at_list text, _reason_list text, _tenant_list text, _more_list text); -- 84409269cea664d24add2ab7bc517629
function _space(_namespace text); -- 2f111d59e870d442dc6806f8b2e511c5
function _states(_keys bigint[]); -- 6902e5beeda0c7d6a63fee25bca698c3
function _trim(_key bigint, _below bigint, _before bigint); -- b77772abfbb019b17930a4029f5271b8
