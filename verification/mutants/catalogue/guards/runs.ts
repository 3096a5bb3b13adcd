import type { Guard } from './guard.ts'

const LUA_BEGIN_DONE = "  if state == 'done' then return answer({ 'done', result }) end\n  if state == 'begun' and by"

/** What a store checks before a run begins or ends a step, reports progress, or commits. */
export const RUN_GUARDS: readonly Guard[] = [
  {
    name: 'open-run',
    breaks: 'A run that has ended begins another step.',
    rule: 'a step does not start once its run has ended',
    stores: {
      memory: { none: 'only an open run is in the state' },
      sqlite: { none: 'only an open run is in the index of what is open' },
      postgres: { none: 'a clock names an instance only while its run is open' },
      redis: { none: 'only what is open is looked at' },
      kv: { none: 'only an open run is in the state' },
    },
  },
  {
    name: 'token-of-the-open-run',
    breaks: 'A run that was overtaken begins a step under the token of the one that overtook it.',
    rule: 'of a run and its successor, only the successor starts a step',
    stores: {
      memory: { none: 'a run is found by its token' },
      sqlite: { none: 'a run is found by its token' },
      postgres: [
        [
          'sql/schedules.sql',
          "o.key = n.key and o.token = _token and k.more <> ''",
          "o.key = n.key and o.token > 0 and k.more <> ''",
        ],
      ],
      redis: [['lua/line.lua', 'if fire.token == token then', 'if true then']],
      kv: { none: 'a run is found by its token' },
    },
  },
  {
    name: 'known-instance',
    breaks: 'A run of an instance that the store does not know begins a step.',
    rule: 'a run of an instance that the store does not know is not live',
    stores: {
      memory: [
        [
          'space.ts',
          'data.instances.get(fire.run.instance)?.goneAt === null',
          '(data.instances.get(fire.run.instance)?.goneAt ?? null) === null',
        ],
      ],
      sqlite: [['instances.ts', 'return row !== undefined && isLive(', 'return row === undefined || isLive(']],
      postgres: [
        [
          'sql/schedules.sql',
          ' cross join lateral (\n   select i.state\n',
          '  left join lateral (\n   select i.state\n',
        ],
        ['sql/schedules.sql', ' ) i\n where n.namespace', ' ) i on true\n where n.namespace'],
        [
          'sql/schedules.sql',
          "and i.state in ('live', 'draining')\n",
          "and coalesce(i.state, '') not in ('left', 'dead')\n",
        ],
      ],
      redis: [['lua/line.lua', 'return row[1] and not row[2] and', 'return not row[2] and']],
      kv: [
        ['steps.ts', '(found[index]!.entries.length === 0 ? undefined : run)', 'run'],
        ['steps.ts', 'guards: [held, live] }', 'guards: [held] }'],
      ],
    },
  },
  {
    name: 'end-by-death',
    breaks: 'A run of an instance that was declared dead begins another step.',
    rule: 'a step does not start once its instance was declared dead',
    stores: {
      memory: [
        [
          'space.ts',
          'instances.get(fire.run.instance)?.goneAt === null',
          "instances.get(fire.run.instance)?.record.state !== 'left'",
        ],
      ],
      sqlite: [['instances.ts', "return state === 'live' || state === 'draining'", "return state !== 'left'"]],
      postgres: [['sql/schedules.sql', "i.state in ('live', 'draining')", "i.state <> 'left'"]],
      redis: [['lua/line.lua', 'return row[1] and not row[2] and', "return row[1] and row[1] ~= 'left' and"]],
      kv: { none: 'one that is over has no record: as an unknown one' },
    },
  },
  {
    name: 'end-by-leaving',
    breaks: 'A run of an instance that has left begins another step.',
    rule: 'a step does not start once its instance has left',
    stores: {
      memory: [
        [
          'space.ts',
          'instances.get(fire.run.instance)?.goneAt === null',
          "instances.get(fire.run.instance)?.record.state !== 'dead'",
        ],
      ],
      sqlite: [['instances.ts', "return state === 'live' || state === 'draining'", "return state !== 'dead'"]],
      postgres: [['sql/schedules.sql', "i.state in ('live', 'draining')", "i.state <> 'dead'"]],
      redis: [['lua/line.lua', 'return row[1] and not row[2] and', "return row[1] and row[1] ~= 'dead' and"]],
      kv: { none: 'one that is over has no record: as an unknown one' },
    },
  },
  {
    name: 'fire-of-the-run-by-due-time',
    breaks: "A run begins a step of another due time's fire.",
    rule: 'a run starts steps of its own fire only',
    stores: {
      memory: [['steps.ts', ' || run.dueAt !== fire.dueAt', '']],
      sqlite: [['steps.ts', ' || run.due_at !== dueAt', '']],
      postgres: [
        ['sql/steps.sql', 'where l.due_at = $3::text::bigint and l.nonce = $4::text', 'where l.nonce = $4::text'],
      ],
      redis: [['lua/steps.lua', '~= fire then return', '== nil then return']],
      kv: [['steps.ts', ' || run.fire.dueAt !== fire.dueAt', '']],
    },
  },
  {
    name: 'fire-of-the-run-by-nonce',
    breaks: "A run begins a step of another dedupe key's fire.",
    rule: 'a run starts steps of its own fire only',
    stores: {
      memory: [['steps.ts', ' || run.nonce !== fire.nonce', '']],
      sqlite: [['steps.ts', ' || run.nonce !== nonce', '']],
      postgres: [
        [
          'sql/steps.sql',
          'where l.due_at = $3::text::bigint and l.nonce = $4::text',
          'where l.due_at = $3::text::bigint',
        ],
      ],
      redis: { none: 'due time and nonce are one name' },
      kv: [['steps.ts', ' || run.fire.nonce !== fire.nonce', '']],
    },
  },
  {
    name: 'done-step',
    breaks: 'A step that is done is done again.',
    rule: 'a step that is done does not start again: its result is returned',
    stores: {
      memory: [['steps.ts', "  if (known?.state === 'done') return done(known)\n", '']],
      sqlite: [['steps.ts', "  if (step?.state === 'done') return { kind: 'done', result: step.result }\n", '']],
      postgres: [['sql/steps.sql', "where (p.state = 'failed' and", "where (p.state in ('failed', 'done') and"]],
      redis: [['lua/steps.lua', LUA_BEGIN_DONE, "  if state == 'begun' and by"]],
      kv: [['steps.ts', "  if (known?.state === 'done') return { kind: 'done', result: known.result }\n", '']],
    },
  },
  {
    name: 'unknown-step',
    breaks: 'A step of unknown end is begun again without being asked to.',
    rule: 'a step that another run began is unknown, unless it is to be run again',
    stores: {
      memory: [
        ['steps.ts', "  if (known?.state === 'begun' && !rerun) return { kind: 'unknown', token: known.token }\n", ''],
      ],
      sqlite: [['steps.ts', "    if (!rerun) return { kind: 'unknown', token: step.token }\n", '']],
      postgres: [['sql/steps.sql', 'p.token < excluded.token and $7::text::boolean)', 'p.token < excluded.token)']],
      redis: [
        ['lua/steps.lua', "  if state == 'begun' and ARGV[7] ~= '1' then return answer({ 'unknown', by }) end\n", ''],
      ],
      kv: [
        ['steps.ts', "  if (known?.state === 'begun' && !rerun) return { kind: 'unknown', token: known.token }\n", ''],
      ],
    },
  },
  {
    name: 'own-step',
    breaks: 'A run that begins its step twice gets the answer twice that it began it.',
    rule: 'a step that its own run starts again is a duplicate, also with rerun',
    stores: {
      memory: [['steps.ts', "  if (known?.state === 'begun' && known.token === token) return DUPLICATE\n", '']],
      sqlite: [['steps.ts', "    if (step.token === token) return { kind: 'duplicate' }\n", '']],
      postgres: [['sql/steps.sql', 'p.token < excluded.token and $7', '$7']],
      redis: [['lua/steps.lua', "  if state == 'begun' and by == token then return answer({ 'duplicate' }) end\n", '']],
      kv: [['steps.ts', "  if (known?.state === 'begun' && known.token === token) return DUPLICATE\n", '']],
    },
  },
  {
    name: 'token-of-the-step',
    breaks: 'A run ends a step that another one began.',
    rule: 'a step is ended only by the run that began it last',
    stores: {
      memory: [['steps.ts', '      if (known.token !== command.token) return STALE\n', '']],
      sqlite: [['steps.ts', "      if (step.token !== command.token) return { kind: 'stale' }\n", '']],
      postgres: [['sql/steps.sql', "\n     and ($8::text = 'resolve' or p.token = $6::text::bigint)", '']],
      redis: [['lua/steps.lua', "  if by ~= token then return answer({ 'stale' }) end\n", '']],
      kv: [['steps.ts', '      if (known.token !== command.token) return STALE\n', '']],
    },
  },
  {
    name: 'end-of-an-ended-step',
    breaks: 'A step that has ended is ended again, with another result.',
    rule: 'beginning or ending twice changes nothing the second time',
    stores: {
      memory: [
        [
          'steps.ts',
          "return STALE\n      return known.state === 'begun' ?",
          'return STALE\n      return known.state !== null ?',
        ],
      ],
      sqlite: [
        [
          'steps.ts',
          "      if (step.token !== command.token) return { kind: 'stale' }\n      if (step.state !== 'begun') return { kind: 'duplicate' }\n",
          "      if (step.token !== command.token) return { kind: 'stale' }\n",
        ],
      ],
      postgres: [['sql/steps.sql', "and p.step = step.step and p.state = 'begun'", 'and p.step = step.step']],
      redis: [
        [
          'lua/steps.lua',
          "if state ~= 'begun' then return answer({ 'duplicate' }) end\n",
          "if state ~= 'begun' and kind ~= 'end' then return answer({ 'duplicate' }) end\n",
        ],
      ],
      kv: [
        [
          'steps.ts',
          "return STALE\n      return known.state === 'begun' ?",
          'return STALE\n      return known.state !== null ?',
        ],
      ],
    },
  },
  {
    name: 'resolve-of-a-done-step',
    breaks: 'An operator overwrites the result of a step that is done.',
    rule: 'a step that is done stays as it is, whatever an operator says',
    stores: {
      memory: [
        [
          'steps.ts',
          "      if (known.state === 'done') return done(known)\n      return known.state === 'begun' ?",
          "      return known.state === 'begun' || known.state === 'done' ?",
        ],
      ],
      sqlite: [
        [
          'steps.ts',
          "      if (step.state === 'done') return { kind: 'done', result: step.result }\n      if (step.state !== 'begun')",
          "      if (step.state === 'failed')",
        ],
      ],
      postgres: [
        [
          'sql/steps.sql',
          "and p.step = step.step and p.state = 'begun'",
          "and p.step = step.step and p.state <> 'failed'",
        ],
      ],
      redis: [
        [
          'lua/steps.lua',
          "elseif state == 'done' then\n  return answer({ 'done', result })\nend\nif state ~= 'begun' then",
          "end\nif state == 'failed' then",
        ],
      ],
      kv: [
        [
          'steps.ts',
          "      if (known.state === 'done') return { kind: 'done', result: known.result }\n      return known.state === 'begun' ?",
          "      return known.state === 'begun' || known.state === 'done' ?",
        ],
      ],
    },
  },
  {
    name: 'resolve-of-a-failed-step',
    breaks: 'An operator overwrites the error of a step that failed.',
    rule: 'a failed step stays failed, whatever an operator says, and may start again',
    stores: {
      memory: [
        [
          'steps.ts',
          "return done(known)\n      return known.state === 'begun' ?",
          "return done(known)\n      return known.state !== 'done' ?",
        ],
      ],
      sqlite: [
        [
          'steps.ts',
          "return { kind: 'done', result: step.result }\n      if (step.state !== 'begun') return { kind: 'duplicate' }\n",
          "return { kind: 'done', result: step.result }\n",
        ],
      ],
      postgres: [
        [
          'sql/steps.sql',
          "and p.step = step.step and p.state = 'begun'",
          "and p.step = step.step and p.state <> 'done'",
        ],
      ],
      redis: [
        [
          'lua/steps.lua',
          "if state ~= 'begun' then return answer({ 'duplicate' }) end\n",
          "if state ~= 'begun' and kind == 'end' then return answer({ 'duplicate' }) end\n",
        ],
      ],
      kv: [
        [
          'steps.ts',
          "result: known.result }\n      return known.state === 'begun' ?",
          "result: known.result }\n      return known.state !== 'done' ?",
        ],
      ],
    },
  },
  {
    name: 'live-run-of-a-note',
    breaks: 'A run that is over goes on reporting progress.',
    rule: 'a run reports nothing once its run has ended',
    stores: {
      memory: [
        [
          'steps.ts',
          'if (liveRun(space, schedule, token) === undefined) stale.push({ schedule, token })\n    else ',
          '',
        ],
      ],
      sqlite: [
        [
          'steps.ts',
          'if (liveRun(db, namespace, schedule, token) === null) stale.push({ schedule, token })\n    else ',
          '',
        ],
      ],
      postgres: { none: 'a clock names an instance only while its run is open' },
      redis: [['lua/steps.lua', 'if find_live_run(ARGV[n], ARGV[n + 1]) then', 'if true then']],
      kv: [
        ['steps.ts', '    .filter((_, index) => runs[index] === undefined)\n', '    .filter(() => false)\n'],
        ['steps.ts', '    if (run === undefined) return []\n', ''],
        ['steps.ts', 'group: { guards: run.guards,', 'group: { guards: run?.guards ?? [],'],
      ],
    },
  },
  {
    name: 'live-instance-of-a-note',
    breaks: 'A run whose instance was declared dead goes on reporting progress.',
    rule: 'a run reports nothing once its instance was declared dead',
    stores: {
      memory: { none: 'one check for steps and notes' },
      sqlite: { none: 'one check for steps and notes' },
      postgres: [['sql/schedules.sql', "i.state in ('live', 'draining')", "i.state <> 'left'"]],
      redis: { none: 'one check for steps and notes' },
      kv: { none: 'one check for steps and notes' },
    },
  },
  {
    name: 'live-run-before-the-work',
    breaks: 'The work of a run that is over is begun.',
    rule: 'the work of a run that is not live does not start',
    stores: {
      memory: [['store.ts', "  if (liveRun(space(), schedule, token) === undefined) return { kind: 'stale' }\n", '']],
      sqlite: [
        [
          'transact.ts',
          "  if (liveRun(db, namespace, schedule, token) === null) throw new Rollback({ kind: 'stale' })\n",
          '',
        ],
      ],
      postgres: [['transact.ts', "  if (!(await isLive())) return { kind: 'stale' }\n", '']],
      redis: { none: 'no transactions' },
      kv: { none: 'no transactions' },
    },
  },
  {
    name: 'live-run-at-the-commit',
    breaks: 'A transaction whose run was overtaken during its work is committed.',
    rule: 'work in progress is not committed if its instance is declared dead meanwhile',
    stores: {
      memory: [
        ['store.ts', 'state === undefined || liveRun(space(), schedule, token) === undefined', 'state === undefined'],
      ],
      sqlite: { none: 'no other transaction writes during the work' },
      postgres: [['transact.ts', 'const change = live && state !== undefined', 'const change = state !== undefined']],
      redis: { none: 'no transactions' },
      kv: { none: 'no transactions' },
    },
  },
  {
    name: 'no-settlement',
    breaks: 'A transaction without a settlement is committed.',
    rule: "the user's own writes are committed with the settlement, or not at all",
    stores: {
      memory: [['store.ts', '    if (change === null) return false\n', '    if (change === null) return true\n']],
      sqlite: [
        [
          'transact.ts',
          "  if (change === null) throw new Rollback({ kind: 'stale' })\n",
          "  if (change === null) return { kind: 'committed', value, now }\n",
        ],
      ],
      postgres: [
        [
          'transact.ts',
          '      if (change === null) throw new Stale()\n',
          "      if (change === null) return { kind: 'committed', value, now }\n",
        ],
      ],
      redis: { none: 'no transactions' },
      kv: { none: 'no transactions' },
    },
  },
  {
    name: 'refused-settlement',
    breaks: 'A transaction whose settlement the store refused is committed.',
    rule: 'work whose settlement the store refuses is rolled back',
    stores: {
      memory: [['store.ts', "    if (result!.kind !== 'applied') throw conflictError()\n", '']],
      sqlite: [['transact.ts', "if (result.kind !== 'applied') {", 'if (result === null) {']],
      postgres: [['transact.ts', "      if (kind !== 'applied') throw conflict(schedule, kind)\n", '']],
      redis: { none: 'no transactions' },
      kv: { none: 'no transactions' },
    },
  },
]
