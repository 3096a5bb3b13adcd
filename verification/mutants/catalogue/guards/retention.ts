import type { Guard } from './guard.ts'

/** What a store checks before it deletes records. */
export const RETENTION_GUARDS: readonly Guard[] = [
  {
    name: 'time-of-a-prune',
    breaks: 'A record is deleted before its time is up.',
    rule: 'prune deletes ended fires whose time is up, with their runs and steps, and nothing else',
    stores: {
      memory: [['prune.ts', 'if (entry.expiresAt > now || found', 'if (found']],
      sqlite: [['prune.ts', 'and expires_at <= ? and is_final', 'and ? > 0 and is_final']],
      postgres: [['sql/prune.sql', 'and h.is_final and h.expires_at <= _now\n', 'and h.is_final\n']],
      redis: [
        ['lua/prune.lua', '    if expires > now then\n', '    if false then\n'],
        ['lua/prune.lua', "EXPIRING, '-inf', digits(now), 'LIMIT'", "EXPIRING, '-inf', '+inf', 'LIMIT'"],
      ],
      kv: [
        [
          'prune.ts',
          "const past = { from: keys.key('x', ''), to: keys.key('x', encodeNumber(now + 1)) }",
          "const past = keys.below('x')",
        ],
      ],
    },
  },
  {
    name: 'open-fire-in-a-prune',
    breaks: 'A fire that is open is pruned.',
    rule: 'an open fire is not pruned, whatever the lines of its runs say about their expiry',
    stores: {
      memory: [
        [
          'record-index.ts',
          'return open !== null ? undefined : lines.findLast(({ isFinal }) => isFinal)',
          'return lines.at(-1)',
        ],
      ],
      sqlite: [
        ['prune.ts', ' and is_final = 1\n order by expires_at', '\n order by expires_at'],
        ['prune.ts', 'from cronce_history indexed by cronce_history_expiry\n', 'from cronce_history\n'],
      ],
      postgres: [['sql/prune.sql', 'and h.is_final and h.expires_at <= _now\n', 'and h.expires_at <= _now\n']],
      redis: [
        ['lua/prune.lua', 'match(text, FINAL)', "match(text, '^%a(%-?%d+) (%-?%d+) (%-?%d+) ')"],
        ['lua/history.lua', 'if line.is_final and (history.expires', 'if (history.expires'],
      ],
      kv: [['lines.ts', 'if (line.isFinal) writes.put(keys.expiring', 'writes.put(keys.expiring']],
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
        ['sql/prune.sql', '       order by h.expires_at\n       limit _most\n', '       order by h.expires_at\n'],
      ],
      redis: [['lua/prune.lua', '    if deleted + #found == limit then return false end\n', '']],
      kv: [['prune.ts', 'const most = Math.min(BITE, limit - deleted)', 'const most = BITE']],
    },
  },
  {
    name: 'day-of-an-instance',
    breaks: 'An instance that has just ended is pruned.',
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
      postgres: [['sql/prune.sql', 'i.ended_at <= _now - 86400000', 'i.ended_at <= _now', 2]],
      redis: [
        [
          'lua/prune.lua',
          "GONE, '-inf', digits(now - DAY_MS), 'LIMIT', 0, limit",
          "GONE, '-inf', digits(now), 'LIMIT', 0, limit",
        ],
      ],
      kv: [['prune.ts', 'encodeNumber(now - DAY_MS + 1)', 'encodeNumber(now + 1)']],
    },
  },
  {
    name: 'runs-of-an-instance',
    breaks: 'An instance with open runs is pruned, so its runs are never recovered.',
    rule: 'an instance is not deleted while it has open runs: recovery finds them by it',
    stores: {
      memory: [['prune.ts', ' && !records.held.has(id)', '']],
      sqlite: [
        [
          'prune.ts',
          'and instance = cronce_instances.id and token is not null',
          'and instance = cronce_instances.id and token is null',
        ],
      ],
      postgres: [['sql/prune.sql', '\n         and not {schema}._holds_runs(i.number)\n', '\n']],
      redis: [['lua/instances.lua', "  return call('EXISTS', HELD .. id) == 0\n", '  return true\n']],
      kv: [
        [
          'instances.ts',
          'return entries.filter((_, index) => found[index]!.count === 0)',
          'return entries.filter((_, index) => found[index]!.count >= 0)',
        ],
      ],
    },
  },
  {
    name: 'number-of-a-trim',
    breaks: 'A trim deletes newer records than it was asked to.',
    rule: 'a trim deletes what is numbered below and ended before, and nothing else',
    stores: {
      memory: [['prune.ts', 'entry.number >= belowNumber || ', '']],
      sqlite: [['apply.ts', 'where number < ? and ended_at', 'where ? > 0 and ended_at']],
      postgres: [['sql/records.sql', 'early.number < _below and ', '']],
      redis: [['lua/apply.lua', 'if number >= below or ', 'if ']],
      kv: [
        [
          'prune.ts',
          "const to = keys.key('n', name, encodeNumber(belowNumber))",
          "const { to } = keys.below('n', name)",
        ],
      ],
    },
  },
  {
    name: 'end-before-a-trim',
    breaks: 'A trim deletes what has ended since.',
    rule: 'a trim deletes what is numbered below and ended before, and nothing else',
    stores: {
      memory: [['prune.ts', 'Math.max(endedAt, entry.dueAt) < endedBefore', 'true']],
      sqlite: [['apply.ts', 'and ended_at < ? and due_at < ?', 'and ? > 0 and ? > 0']],
      postgres: [['sql/records.sql', 'early.ended_at < _before and early.due_at < _before', 'true']],
      redis: [['lua/apply.lua', 'if math.max(line.ended, tonumber(line.due)) < before then', 'if true then']],
      kv: [['prune.ts', 'return Math.max(final.endedAt, final.dueAt) < endedBefore', 'return true']],
    },
  },
  {
    name: 'due-time-before-a-trim',
    breaks: 'A trim deletes a skipped instant that is yet to come, which is then planned again.',
    rule: 'a trim leaves what ended long before it is due',
    stores: {
      memory: [['prune.ts', 'Math.max(endedAt, entry.dueAt) < endedBefore', 'endedAt < endedBefore']],
      sqlite: [['apply.ts', 'and ended_at < ? and due_at < ?', 'and ended_at < ? and ? > 0']],
      postgres: [['sql/records.sql', ' and early.due_at < _before', '']],
      redis: [['lua/apply.lua', 'math.max(line.ended, tonumber(line.due)) < before', 'line.ended < before']],
      kv: [
        ['prune.ts', 'return Math.max(final.endedAt, final.dueAt) < endedBefore', 'return final.endedAt < endedBefore'],
      ],
    },
  },
  {
    name: 'limit-of-a-trim',
    breaks: 'A trim deletes thousands at once.',
    rule: 'a trim is bounded: at most 200 records go',
    stores: {
      memory: [['prune.ts', ' || found.length === TRIM_LIMIT', '']],
      sqlite: [['apply.ts', ' limit 200`', ' limit 20000`']],
      postgres: [['sql/records.sql', '       limit 200\n', '']],
      redis: [['lua/apply.lua', ' or #found == TRIM_MOST', '']],
      kv: [['prune.ts', 'let left = TRIM_LIMIT', 'let left = TRIM_LOOKS']],
    },
  },
  {
    name: 'trim-of-a-refused-change',
    breaks: 'A rejected change still deletes records.',
    rule: 'the trim of a refused change deletes nothing',
    stores: {
      memory: { none: 'nothing is written before everything is checked' },
      sqlite: { none: 'nothing is written before everything is checked' },
      postgres: { none: 'nothing is written before all of a change is judged' },
      redis: { none: 'nothing is written before everything is checked' },
      kv: [
        [
          'change-writer.ts',
          "if (wanted === null || this.#results[place]?.kind !== 'applied') continue",
          'if (wanted === null) continue',
        ],
      ],
    },
  },
  {
    name: 'erased-schedule',
    breaks: 'The records of a schedule that exists are erased.',
    rule: 'prune refuses to delete the records of a schedule that exists',
    stores: {
      memory: [['prune.ts', 'if (space.data.schedules.has(schedule)) {', 'if (schedule === null) {']],
      sqlite: [['prune.ts', 'if (headOf(db, namespace, schedule) !== undefined) {', 'if (schedule === null) {']],
      postgres: [
        [
          'sql/prune.sql',
          '  if exists (select from {schema}._clocks k where k.key = _key) then return \'"exists"\'; end if;\n',
          '',
        ],
      ],
      redis: [['lua/prune.lua', "if history and edition ~= '0' then return answer({ 'exists' }) end\n", '']],
      kv: [
        ['prune.ts', 'if (found[0]!.entries.length > 0) {', 'if (found[0]!.entries.length > 1) {'],
        [
          'prune.ts',
          "const guards: Guard[] = [{ key: keys.state(schedule), is: 'absent' }]",
          'const guards: Guard[] = []',
        ],
      ],
    },
  },
]
