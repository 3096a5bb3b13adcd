import { edit, type Mutant } from '../mutant.ts'

const PLAIN = 'packages/cronce/test/store/redis-plain.test.ts'
const RECORDS = 'packages/cronce/test/store/redis-races-records.test.ts'
const PROMOTION = 'packages/cronce/test/store/redis-promotion.test.ts'
const PRUNE = 'packages/cronce/test/store/redis-prune.test.ts'
const MOVING = 'packages/cronce/test/store/redis-list-moving.test.ts'
const NAMES = 'packages/cronce/test/store/redis-names.test.ts'
const CONFORMANCE = 'packages/cronce/test/store/redis-conformance.test.ts'
const SAME = 'plain changes are written as the general script writes them'

/** Mistakes in what only Redis has: scripts for plain changes, numbers of lines that outlive a schedule, a format. */
export const REDIS_MUTANTS: readonly Mutant[] = [
  {
    name: 'redis-plain-without-version',
    rule: 'P2',
    breaks: 'A plain change is written over a state that it was not decided on.',
    edits: [
      edit('store/redis/lua/plain.lua', 'if known[n] and sub(known[n], 1, #head) == head then', 'if known[n] then'),
    ],
    caughtBy: {
      judge: 'tests',
      file: CONFORMANCE,
      names: ['of many concurrent claims, from different openings, exactly one gets each fire'],
    },
  },
  {
    name: 'redis-plain-without-identity',
    rule: 'P1',
    breaks: 'A plain claim creates a fire that is on record.',
    edits: [edit('store/redis/plain.ts', ' || !isAbove(created.dueAt, mark)) return null', ') return null')],
    caughtBy: {
      judge: 'tests',
      file: PLAIN,
      names: ['a claim of a fire that a plain settlement ended is refused with its record'],
    },
  },
  {
    name: 'redis-plain-without-epoch',
    rule: 'P2',
    breaks: 'A plain change that was decided before a failover is written after it.',
    edits: [edit('store/redis/lua/plain.lua', 'return ARGV[9] == digits(epoch) and ', 'return ')],
    caughtBy: {
      judge: 'tests',
      file: PLAIN,
      names: ['a plain change of an earlier epoch is refused, also if the epoch moves with it'],
    },
  },
  {
    name: 'redis-plain-before-its-time',
    rule: 'P1',
    breaks: 'A plain claim is written before its fire is due.',
    edits: [edit('store/redis/lua/plain.lua', " and (ARGV[10] == '' or now >= tonumber(ARGV[10]))", '')],
    caughtBy: { judge: 'tests', file: PLAIN, names: [SAME] },
  },
  {
    name: 'redis-claim-of-the-dead',
    rule: 'P2',
    breaks: 'An instance that was declared dead claims.',
    edits: [
      edit(
        'store/redis/lua/plain.lua',
        'local refusal = refuse(ARGV[2])\nif refusal then return answer({ refusal }) end\nif not is_fit() then',
        'refuse(ARGV[2])\nif not is_fit() then',
      ),
    ],
    caughtBy: { judge: 'tests', file: CONFORMANCE, names: ['only a live instance claims'] },
  },
  {
    name: 'redis-held-forgotten',
    rule: 'P3',
    breaks: 'A plain claim is not listed where recovery looks.',
    edits: [edit('store/redis/lua/plain.lua', "  call('SADD', HELD .. ARGV[2], unpack(members))\n", '')],
    caughtBy: { judge: 'tests', file: PLAIN, names: [SAME] },
  },
  {
    name: 'redis-settled-twice',
    rule: 'P6',
    breaks: 'A plain settlement writes its line twice.',
    edits: [
      edit(
        'store/redis/lua/plain.lua',
        "call('RPUSH', HISTORY .. sub(member, 3), ARGV[at + 5])",
        "call('RPUSH', HISTORY .. sub(member, 3), ARGV[at + 5], ARGV[at + 5])",
      ),
    ],
    caughtBy: { judge: 'tests', file: PLAIN, names: [SAME] },
  },
  {
    name: 'redis-count-forgotten',
    rule: 'P6',
    breaks: 'A plain settlement is not counted.',
    edits: [edit('store/redis/lua/plain.lua', '  counts[hour] = (counts[hour] or 0) + 1\n', '')],
    caughtBy: { judge: 'tests', file: PLAIN, names: [SAME] },
  },
  {
    name: 'redis-number-again',
    rule: 'P6',
    breaks: 'The lines of a schedule that is made again take the numbers of those that its predecessor left.',
    edits: [
      edit(
        'store/redis/lua/apply.lua',
        'ended = digits(math.max(tonumber(ended), current and tonumber(was_ended) or tonumber(row[2]) or 0))',
        'ended = digits(tonumber(ended))',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: CONFORMANCE,
      names: ['a schedule that is made again goes on numbering its lines where it was'],
    },
  },
  {
    name: 'redis-other-format',
    rule: 'rule 49',
    breaks: 'A process goes on writing to a namespace that has another format by now.',
    edits: [edit('store/redis/lua/moment.lua', 'if meta[6] and meta[6] ~= FORMAT then', 'if false then')],
    caughtBy: {
      judge: 'tests',
      file: RECORDS,
      names: ['is neither read nor written by a process that opened it before'],
    },
  },
  {
    name: 'redis-lists-without-holding-back',
    rule: 'P6',
    breaks: 'A page ends with a record that stands before another one that was not read yet.',
    edits: [
      edit(
        'store/redis/read-history.ts',
        'const held = waiting.findIndex(({ place }) => !isSettled(place))',
        'const held = waiting.findIndex(({ place }) => isSettled(place) === null)',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: RECORDS,
      names: [
        'runs that were written long after they were due are listed in order, also where one script does not read them all',
        'runs that were written when they were due are listed in order, also where one script does not read them all',
      ],
    },
  },
  {
    name: 'redis-epoch-ignores-promotion',
    rule: 'P1',
    breaks:
      'A primary that was demoted and promoted again in the same process goes on in the same epoch with older data.',
    edits: [
      edit(
        'store/redis/lua/moment.lua',
        "local promotion = sub(match(call('INFO', 'replication'), 'master_replid:(%w+)') or 'unknown', 1, 10)",
        "local promotion = 'unknown'",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: PROMOTION,
      names: ['a Redis primary that is demoted and promoted again with older data begins another epoch'],
    },
  },
  {
    name: 'redis-epoch-ignores-mark',
    rule: 'P1',
    breaks: 'A server that went back in time under the same identifiers goes on in the same epoch.',
    edits: [edit('store/redis/lua/moment.lua', 'epoch == seen and mark < seen_mark', 'false')],
    caughtBy: {
      judge: 'tests',
      file: PROMOTION,
      names: ['a Redis server whose data goes back under the same identifiers is found out by the count of writes'],
    },
  },
  {
    name: 'redis-definitions-outlive-epoch',
    rule: 'P2',
    breaks: 'After a rollback, an instance takes a lost definition for the current one of the same version.',
    edits: [edit('store/redis/schedules.ts', '    this.definitions.clear()\n', '')],
    caughtBy: {
      judge: 'tests',
      file: PROMOTION,
      names: ['a definition that Redis lost is not taken for another one of the same version'],
    },
  },
  {
    name: 'redis-history-read-per-fire',
    rule: 'P6',
    breaks: 'A script that prunes retried fires reads the whole history once for each of them.',
    edits: [
      edit(
        'store/redis/lua/history.lua',
        '    history.by_due = read_regular(history)\n    return history.by_due[due] or {}',
        '    return read_regular(history)[due] or {}',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: PRUNE,
      names: ['scripts read a history once, however many retried fires they look for in it'],
    },
  },
  {
    name: 'redis-prune-budget-per-schedule',
    rule: 'P6',
    breaks: 'One script that prunes looks at all lines of hundreds of schedules, and blocks the server.',
    edits: [
      edit(
        'store/redis/lua/prune.lua',
        '  local found = {}\n  local rest',
        '  local found = {}\n  looks = 0\n  local rest',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: PRUNE,
      names: ['one script looks at a bounded number of lines, of however many schedules'],
    },
  },
  {
    name: 'redis-prune-forgets-kept-lines',
    rule: 'P6',
    breaks: 'A prune that continues where an earlier one stopped loses when the lines before that place expire.',
    edits: [
      edit(
        'store/redis/lua/prune.lua',
        "digits(rest) .. ' ' .. (next_at == math.huge and '-' or digits(next_at))",
        "digits(rest) .. ' -'",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: PRUNE,
      names: ['lines behind thousands of deleted ones are pruned, also if the first line is kept'],
    },
  },
  {
    name: 'redis-list-open-without-running',
    rule: 'P6',
    breaks: 'A list of open fires omits those that a peer has claimed since the list was begun.',
    edits: [
      edit('store/redis/lua/lists.lua', 'if not is_listed[member] and is_running_here', 'if false and is_running_here'),
    ],
    caughtBy: {
      judge: 'tests',
      file: MOVING,
      names: ['a list of open fires has those that peers claim and give back while it is read'],
    },
  },
  {
    name: 'redis-list-history-before-open',
    rule: 'P6',
    breaks: 'A list takes ended fires from a history that it read before it read which fires are open there.',
    edits: [edit('store/redis/list-records.ts', '      if (!isWithin(one.place, stretch, last)) break\n', '')],
    caughtBy: {
      judge: 'tests',
      file: MOVING,
      names: ['a list of fires has those that end while it is read'],
    },
  },
  {
    name: 'redis-prefix-bound-too-low',
    rule: 'P6',
    breaks: 'A list by prefix omits names in which the last character of Unicode follows the prefix.',
    edits: [
      edit(
        'store/redis/lists.ts',
        'const to = boundAbove(from)',
        "const to = prefix === '' ? '+' : '('.concat(from, '\\u{10ffff}')",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: NAMES,
      names: ['a prefix finds every schedule whose name begins with it, with any next character'],
    },
  },
  {
    name: 'redis-time-before-the-second-read',
    rule: 'P7',
    breaks:
      'A claim is stamped with a time before the end of the run that it waited for: the record shows both at once.',
    edits: [edit('store/redis/schedules.ts', 'return { now: whole.now, schedules }', 'return { now, schedules }')],
    caughtBy: {
      judge: 'tests',
      file: MOVING,
      names: [
        'an answer of load contains nothing that was written after its time',
        'an answer of due contains nothing that was written after its time',
      ],
    },
  },
]
