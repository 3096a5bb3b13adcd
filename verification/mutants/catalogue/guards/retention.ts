import type { Guard } from './guard.ts'

/** What a store checks before it deletes records. */
export const RETENTION_GUARDS: readonly Guard[] = [
  {
    name: 'time-of-a-prune',
    breaks: 'A record is deleted before its time is up.',
    rule: 'prune deletes ended fires whose time is up, with their runs and steps, and nothing else',
    stores: {
      memory: [['prune.ts', 'if (entry.expiresAt > now || found', 'if (found']],
      sqlite: [
        ['prune.ts', 'and expires_at is not null and expires_at <= ? and', 'and expires_at is not null and ? > 0 and'],
      ],
      postgres: [
        [
          'prune.ts',
          'e.namespace = $1 and e.expires_at <= clock.now\n',
          'e.namespace = $1 and e.expires_at is not null\n',
        ],
      ],
      redis: [['lua/prune.lua', '    if line.expires > now then\n', '    if false then\n']],
    },
  },
  {
    name: 'open-fire-in-a-prune',
    breaks: 'A fire that is open is pruned.',
    rule: 'an open fire is not pruned, whatever its record says about when it may go',
    stores: {
      memory: [['prune.ts', 'if (!records.openFires.has(entry)) found.push(entry)', 'found.push(entry)']],
      sqlite: [['prune.ts', " and outcome <> 'open'", '']],
      postgres: { none: 'an open fire is in another table' },
      redis: [
        ['lua/prune.lua', '    if not line.is_final then return true end\n', ''],
        ['lua/history.lua', 'if line.is_final and (history.expires', 'if (history.expires'],
      ],
    },
  },
  {
    name: 'limit-of-a-prune',
    breaks: 'A prune deletes more than it is allowed to.',
    rule: 'prune deletes no more than it is allowed to',
    stores: {
      memory: [['prune.ts', 'entry.expiresAt > now || found.length >= limit', 'entry.expiresAt > now']],
      sqlite: { none: 'the limit is a value of the statement' },
      postgres: [
        ['prune.ts', '      order by e.expires_at\n      limit $2::bigint\n', '      order by e.expires_at\n'],
      ],
      redis: [['lua/prune.lua', '    if deleted + #found == limit then return false end\n', '']],
    },
  },
  {
    name: 'day-of-an-instance',
    breaks: 'An instance that has just ended is forgotten.',
    rule: 'an instance that has just ended is kept',
    stores: {
      memory: [['prune.ts', 'goneAt !== null && goneAt <= now - DAY_MS', 'goneAt !== null']],
      sqlite: [
        [
          'prune.ts',
          'statement(db, GONE).all(namespace, now - DAY_MS, limit)',
          'statement(db, GONE).all(namespace, now, limit)',
        ],
      ],
      postgres: [['instances.ts', 'i.ended_at <= clock.now - ${DAY_MS}', 'i.ended_at <= clock.now']],
      redis: [
        [
          'lua/prune.lua',
          "GONE, '-inf', digits(now - DAY_MS), 'LIMIT', 0, limit",
          "GONE, '-inf', digits(now), 'LIMIT', 0, limit",
        ],
      ],
    },
  },
  {
    name: 'runs-of-an-instance',
    breaks: 'An instance whose runs nobody has ended is forgotten, and with it who recovers them.',
    rule: 'an instance is not forgotten while it has runs that nobody has ended: they are found by it',
    stores: {
      memory: [['prune.ts', ' && !records.openRuns.has(id)', '']],
      sqlite: [
        [
          'prune.ts',
          "and instance = cronce_instances.id and outcome = 'open'",
          "and instance = cronce_instances.id and outcome = 'none'",
        ],
      ],
      postgres: [
        [
          'instances.ts',
          '     and not exists (select from ${schema}._open o where o.namespace = $1::text and o.instance = i.id and o.instance is not null)`',
          '`',
        ],
      ],
      redis: [['lua/instances.lua', "  return call('EXISTS', HELD .. id) == 0\n", '  return true\n']],
    },
  },
  {
    name: 'number-of-a-trim',
    breaks: 'A trim deletes newer records than it was told to.',
    rule: 'a trim deletes what is numbered below and ended before, and nothing else',
    stores: {
      memory: [['prune.ts', 'entry.number >= belowNumber || ', '']],
      sqlite: [['apply.ts', 'number is not null and number < ?', 'number is not null and ? > 0']],
      postgres: [['apply-sql.ts', 'early.number < t.below and ', '']],
      redis: [['lua/apply.lua', 'if number >= below or ', 'if ']],
    },
  },
  {
    name: 'end-before-a-trim',
    breaks: 'A trim deletes what has ended since.',
    rule: 'a trim deletes what is numbered below and ended before, and nothing else',
    stores: {
      memory: [['prune.ts', 'endedAt !== null && Math.max(endedAt, entry.dueAt) < endedBefore', 'endedAt !== null']],
      sqlite: [['apply.ts', 'where ended_at < ? and due_at < ?', 'where ? > 0 and ? > 0']],
      postgres: [['apply-sql.ts', 'early.ended_at < t.before and early.due_at < t.before', 'true']],
      redis: [['lua/apply.lua', 'if math.max(line.ended, tonumber(line.due)) < before then', 'if true then']],
    },
  },
  {
    name: 'due-time-before-a-trim',
    breaks: 'A trim deletes a skipped instant that is yet to come, which is then planned again.',
    rule: 'a trim leaves what ended long before it is due',
    stores: {
      memory: [['prune.ts', 'Math.max(endedAt, entry.dueAt) < endedBefore', 'endedAt < endedBefore']],
      sqlite: [['apply.ts', 'where ended_at < ? and due_at < ?', 'where ended_at < ? and ? > 0']],
      postgres: [['apply-sql.ts', ' and early.due_at < t.before', '']],
      redis: [['lua/apply.lua', 'math.max(line.ended, tonumber(line.due)) < before', 'line.ended < before']],
    },
  },
  {
    name: 'limit-of-a-trim',
    breaks: 'A trim deletes thousands at once.',
    rule: 'a trim is bounded: at most 200 records go',
    stores: {
      memory: [['prune.ts', ' || found.length === TRIM_LIMIT', '']],
      sqlite: [['apply.ts', ' limit 200`', ' limit 20000`']],
      postgres: [['apply-sql.ts', '      limit 200\n', '']],
      redis: [['lua/apply.lua', ' or #found == TRIM_MOST', '']],
    },
  },
  {
    name: 'trim-of-a-refused-change',
    breaks: 'A change that was refused deletes records all the same.',
    rule: 'the trim of a refused change deletes nothing',
    stores: {
      memory: { none: 'nothing is written before everything is checked' },
      sqlite: { none: 'nothing is written before everything is checked' },
      postgres: [['apply-sql.ts', "   where ${isWritten('t')}\n),\n", '),\n']],
      redis: { none: 'nothing is written before everything is checked' },
    },
  },
  {
    name: 'erased-schedule',
    breaks: 'The records of a schedule that exists are erased.',
    rule: 'erase leaves a schedule that exists alone',
    stores: {
      memory: [['prune.ts', 'if (space.data.schedules.has(schedule)) {', 'if (schedule === null) {']],
      sqlite: [['prune.ts', 'if (headOf(db, namespace, schedule) !== undefined) {', 'if (schedule === null) {']],
      postgres: [['prune.ts', '   where not present.is\n   limit', '   limit']],
      redis: [['lua/prune.lua', "if history and edition ~= '0' then return answer({ 'exists' }) end\n", '']],
    },
  },
]
