import type { Guard } from './guard.ts'

/** What a store checks before it changes an instance or the record of an app. */
export const INSTANCE_GUARDS: readonly Guard[] = [
  {
    name: 'end-of-an-instance',
    breaks: 'An instance that was declared dead, or left, becomes live by its next heartbeat.',
    rule: 'an instance that left or was declared dead never comes back under its id',
    stores: {
      memory: [
        [
          'instances.ts',
          'if (known === undefined ? !join : known.goneAt !== null) return false',
          'if (known === undefined && !join) return false',
        ],
      ],
      sqlite: [
        [
          'instances.ts',
          "lease_ms = ?\n where namespace = ? and id = ? and state in ('live', 'draining')",
          'lease_ms = ?\n where namespace = ? and id = ?',
        ],
      ],
      postgres: [
        [
          'sql/instances.sql',
          "i.id = _b.id and i.state in ('live', 'draining')\n     and (_b.joins",
          'i.id = _b.id\n     and (_b.joins',
        ],
      ],
      redis: [
        [
          'lua/instances.lua',
          '  if row[2] then return false end\n  if not row[1] then\n    if join',
          '  if not row[1] then\n    if join',
        ],
      ],
      kv: { none: 'nothing is left to renew: only a join could bring it back' },
    },
  },
  {
    name: 'one-end-of-an-instance',
    breaks: 'The end of an instance moves when it is declared dead once more.',
    rule: 'an instance has an end once it left or was declared dead: after its last claim, and one only',
    stores: {
      memory: [
        [
          'instances.ts',
          '  if (known === undefined || known.goneAt !== null) return mark.kind',
          "  if (known?.record.state === 'dead') setInstance(space, mark.instance, { ...known, goneAt: now })\n  if (known === undefined || known.goneAt !== null) return mark.kind",
        ],
      ],
      sqlite: [
        [
          'instances.ts',
          '  if (!isLive(state)) return mark.kind',
          "  if (state === 'dead') statement(db, BURY).run(now, namespace, mark.instance)\n  if (!isLive(state)) return mark.kind",
        ],
      ],
      postgres: [
        [
          'sql/instances.sql',
          "i.id = _instance and i.state in ('live', 'draining')",
          "i.id = _instance and i.state in ('live', 'draining', 'dead')",
        ],
      ],
      redis: [
        [
          'lua/instances.lua',
          'if not row[1] or row[2] then return answer({ renewals',
          "if row[1] == 'dead' then call('HSET', key, 'gone', digits(now)) end\nif not row[1] or row[2] then return answer({ renewals",
        ],
      ],
      kv: { none: 'nothing is left to end' },
    },
  },
  {
    name: 'end-of-a-joiner',
    breaks: 'An instance that was declared dead, or left, joins again under its id.',
    rule: 'an instance that left or was declared dead never comes back under its id',
    stores: {
      memory: [
        [
          'instances.ts',
          '? !join : known.goneAt !== null) return false',
          '? !join : known.goneAt !== null && !join) return false',
        ],
      ],
      sqlite: [
        ['instances.ts', 'insert into cronce_instances\n', 'insert or replace into cronce_instances\n'],
        ['instances.ts', 'if (!join || before !== undefined) return false', 'if (!join) return false'],
      ],
      postgres: [
        [
          'sql/instances.sql',
          '    on conflict do nothing\n    returning * into _own;',
          '    on conflict (namespace, id) do update set state = excluded.state, ended_at = null\n    returning * into _own;',
        ],
      ],
      redis: [
        [
          'lua/instances.lua',
          '  if row[2] then return false end\n  if not row[1] then',
          "  if row[2] and join ~= '1' then return false end\n  if not row[1] then",
        ],
      ],
      kv: [
        ['instances.ts', "    if (gone !== undefined) return 'gone'\n", ''],
        ['instances.ts', "            { key: keys.key('g', name), is: 'absent' },\n", ''],
      ],
    },
  },
  {
    name: 'join-of-a-stranger',
    breaks: 'A heartbeat of an id that never joined creates an instance.',
    rule: 'a heartbeat of an id that never joined is refused, and leaves no trace',
    stores: {
      memory: [['instances.ts', 'known === undefined ? !join :', 'known === undefined ? false :']],
      sqlite: [['instances.ts', 'if (!join || before !== undefined)', 'if (before !== undefined)']],
      postgres: [['sql/instances.sql', 'if _own.id is null and _b.joins then', 'if _own.id is null then']],
      redis: [['lua/instances.lua', "    if join ~= '1' then return false end\n", '']],
      kv: [
        [
          'instances.ts',
          'if (known === undefined || join) return join',
          'if (known === undefined || join) return true',
        ],
      ],
    },
  },
  {
    name: 'number-of-a-beat',
    breaks: 'Two machines of one snapshot both renew one instance.',
    rule: 'a heartbeat is refused, and changes nothing, unless its number follows the last one on record',
    stores: {
      memory: [['instances.ts', '!join && !follows(sequence, known.beat)', '!join && sequence === null']],
      sqlite: [['instances.ts', '!join && !follows(sequence, last)', '!join && sequence === null']],
      postgres: [
        [
          'sql/instances.sql',
          '\n     and (_b.joins or _b.number is null or i.beat >= _b.after and i.beat < _b.number)',
          '',
        ],
      ],
      redis: [
        [
          'lua/instances.lua',
          "if join ~= '1' and ARGV[9] ~= '' and not (tonumber(ARGV[10]) <= last",
          'if false and not (tonumber(ARGV[10]) <= last',
        ],
      ],
      kv: [
        [
          'instances.ts',
          'return sequence === undefined || (sequence.after <= known.beat && known.beat < sequence.number)',
          'return sequence !== null',
        ],
      ],
    },
  },
  {
    name: 'renewal-before-a-burial',
    breaks: 'An instance that has renewed since it was looked at is declared dead.',
    rule: 'an instance that has renewed since is not declared dead, neither by expiry nor by a hint',
    stores: {
      memory: [['instances.ts', 'record.renewals !== mark.renewals || ', '']],
      sqlite: [['instances.ts', 'renewals !== mark.renewals || ', '']],
      postgres: [['sql/instances.sql', '\n     and {schema}._renewals(i.renewals, i.number) = _renewals::bigint', '']],
      redis: [['lua/instances.lua', 'elseif row[3] ~= renewals or (', 'elseif (']],
      kv: [
        ['instances.ts', 'pulse.renewals !== renewals || ', ''],
        ['instances.ts', "        { key: keys.key('iv', name), is: 'version', version: renewals + 1 },\n", ''],
      ],
    },
  },
  {
    name: 'lease-before-a-burial',
    breaks: 'An instance whose lease lasts is declared dead without a hint.',
    rule: 'no instance is declared dead while its lease lasts',
    stores: {
      memory: [['instances.ts', ' || !(mark.hint || isExpired(known, now))) return false', ') return false']],
      sqlite: [['instances.ts', ' || !(mark.hint || expired)) return false', ') return false']],
      postgres: [
        [
          'sql/instances.sql',
          '(_hint::boolean and i.session is not false or {schema}._is_expired(i.renewed_at, i.lease_ms, _now))',
          '(_hint::boolean is not null)',
        ],
      ],
      redis: [['lua/instances.lua', " or (ARGV[4] ~= '1' and ends_of(id) > now) then", ' then']],
      kv: [
        ['instances.ts', ' || (lease !== undefined && !hint)) return false', ') return false'],
        ['instances.ts', "...(hint ? [] : [{ key: keys.key('ie'", "...(hint !== null ? [] : [{ key: keys.key('ie'"],
      ],
    },
  },
  {
    name: 'clamp-of-a-lease',
    breaks: 'After the clock was set back, the lease of a dead instance seems to hold for hours.',
    rule: "a lease that was renewed before the store's clock was set back does not outlast it",
    stores: {
      memory: [['instances.ts', 'if (known.leaseUntil > now + known.leaseMs) set', 'if (known.leaseMs < 0) set']],
      sqlite: [['instances.ts', ' || renewed > mono || ', ' || ']],
      postgres: [
        [
          'sql/instances.sql',
          'select _now >= _renewed_at + _lease or _renewed_at > _now + _lease',
          'select _now >= _renewed_at + _lease',
        ],
      ],
      redis: [['lua/instances.lua', '  if ends > now + lease then\n', '  if false then\n']],
      kv: { none: "leases are the server's own" },
    },
  },
  {
    name: 'burial-of-who-left',
    breaks: 'An instance that left is declared dead.',
    rule: 'an instance that has left, or never joined, is not declared dead',
    stores: {
      memory: [
        [
          'instances.ts',
          'if (known === undefined || known.goneAt !== null) return mark.kind',
          "if (known === undefined || (known.goneAt !== null && mark.kind !== 'dead')) return mark.kind",
        ],
      ],
      sqlite: [['instances.ts', 'if (!isLive(state)) return', "if (!isLive(state) && mark.kind !== 'dead') return"]],
      postgres: [
        [
          'sql/instances.sql',
          "i.id = _instance and i.state in ('live', 'draining')\n     and {schema}._renewals",
          "i.id = _instance and i.state <> 'dead'\n     and {schema}._renewals",
        ],
      ],
      redis: [['lua/instances.lua', 'if not row[1] or row[2] then', "if not row[1] or row[2] and renewals == '' then"]],
      kv: [
        [
          'instances.ts',
          "return gone !== undefined && (JSON.parse(gone.value) as GoneInstance).state === 'dead'",
          'return gone !== undefined',
        ],
      ],
    },
  },
  {
    name: 'burial-of-a-stranger',
    breaks: 'An id that never joined is answered as dead.',
    rule: 'an instance that has left, or never joined, is not declared dead',
    stores: {
      memory: [['instances.ts', "&& known?.record.state === 'dead'", "&& known?.record.state !== 'left'"]],
      sqlite: [
        [
          'instances.ts',
          '  if (row === undefined) return false\n  const { state',
          '  if (row === undefined) return true\n  const { state',
        ],
      ],
      postgres: { none: 'an update of no row' },
      redis: [
        ['lua/instances.lua', "renewals ~= '' and row[1] == 'dead' and", "renewals ~= '' and row[1] ~= 'left' and"],
      ],
      kv: [['instances.ts', 'return gone !== undefined && (JSON', 'return gone === undefined || (JSON']],
    },
  },
  {
    name: 'drain-of-who-is-over',
    breaks: 'An instance that is over is asked to drain.',
    rule: 'an instance that is not live is not drained',
    stores: {
      memory: [
        [
          'instances.ts',
          'if (known === undefined || known.goneAt !== null) return mark.kind',
          "if (known === undefined || (known.goneAt !== null && mark.kind === 'dead')) return mark.kind",
        ],
      ],
      sqlite: [['instances.ts', 'if (!isLive(state)) return', "if (!isLive(state) && mark.kind === 'dead') return"]],
      postgres: [
        [
          'sql/instances.sql',
          "i.id = $2::text and i.state in ('live', 'draining')\n  returning",
          'i.id = $2::text\n  returning',
        ],
      ],
      redis: [['lua/instances.lua', 'if not row[1] or row[2] then', "if not row[1] or row[2] and renewals ~= '' then"]],
      kv: [
        [
          'instances.ts',
          "const guards: Guard[] = [{ key: keys.key('i', name), is: 'present' }]",
          'const guards: Guard[] = []',
        ],
      ],
    },
  },
  {
    name: 'version-of-an-app',
    breaks: 'The record of an app is written over a newer one.',
    rule: 'an app is saved only by a caller that saw its latest version',
    stores: {
      memory: [['store.ts', '=== app.version - 1', '<= app.version - 1']],
      sqlite: [['apps.ts', 'and name = ? and version = ?', 'and name = ? and version <= ?']],
      postgres: [['sql/steps.sql', '   where a.version = excluded.version - 1\n', '']],
      redis: [['lua/schedules.lua', "if version ~= ARGV[3] - 1 then return answer({ '0' }) end\n", '']],
      kv: [['store.ts', '[unchanged])', '[])']],
    },
  },
  {
    name: 'first-version-of-an-app',
    breaks: 'The first record of an app is written over one that exists.',
    rule: 'an app is saved only by a caller that saw its latest version',
    stores: {
      memory: [['store.ts', '=== app.version - 1', '=== app.version - 1 || app.version === 1']],
      sqlite: [['apps.ts', 'insert or ignore into', 'insert or replace into']],
      postgres: [
        [
          'sql/steps.sql',
          'where a.version = excluded.version - 1',
          'where a.version = excluded.version - 1 or excluded.version = 1',
        ],
      ],
      redis: [
        ['lua/schedules.lua', 'if version ~= ARGV[3] - 1 then', "if version ~= ARGV[3] - 1 and ARGV[3] ~= '1' then"],
      ],
      kv: { none: 'the same comparison' },
    },
  },
  {
    name: 'app-that-does-not-exist',
    breaks: 'A later version of an app is written although there is no earlier one.',
    rule: 'an app is saved only by a caller that saw its latest version',
    stores: {
      memory: [
        [
          'store.ts',
          '(this.#space().data.apps.get(app.name)?.version ?? 0) === app.version - 1',
          '(this.#space().data.apps.get(app.name)?.version ?? app.version - 1) === app.version - 1',
        ],
      ],
      sqlite: { none: 'an update of no row' },
      postgres: [
        [
          'sql/steps.sql',
          '   where $3::text::bigint = 1 or exists (select from {schema}._apps where namespace = $1::text and name = $2::text)\n',
          '',
        ],
      ],
      redis: [
        [
          'lua/schedules.lua',
          "local version = tonumber(call('HGET', key, 'version')) or 0",
          "local version = tonumber(call('HGET', key, 'version')) or ARGV[3] - 1",
        ],
      ],
      kv: { none: 'the same comparison' },
    },
  },
]
