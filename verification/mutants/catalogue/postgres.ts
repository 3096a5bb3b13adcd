import { edit, type Mutant } from '../mutant.ts'

const PLAIN = 'packages/cronce/test/store/postgres-plain.test.ts'
const RACES = 'packages/cronce/test/store/postgres-races.test.ts'
const CONFORMANCE = 'packages/cronce/test/store/postgres-conformance.test.ts'
const SAME = 'what the plain statements write is what the general one would have written'

function tests(file: string, ...names: string[]): Mutant['caughtBy'] {
  return { judge: 'tests', file, names }
}

const LAST_ARGUMENT = { load: '_names', due: '_known' } as const

function lateSnapshot(head: string): Mutant['edits'][number] {
  return edit('store/postgres/sql/schedules.sql', `${head} {reads}`, `${head} {settings}`)
}

/** Mistakes in what only PostgreSQL has: statements on typed columns, rows of claims, keys that outlive a schedule. */
export const POSTGRES_MUTANTS: readonly Mutant[] = [
  {
    name: 'postgres-plain-claim-without-version',
    rule: 'P2',
    breaks: 'A plain claim is written over a state that it was not decided on.',
    edits: [edit('store/postgres/sql/plain.sql', 'c.version = _version[n] and c.runner = 0', 'c.runner = 0')],
    caughtBy: tests(PLAIN, 'a plain change that was decided on an older version is refused'),
  },
  {
    name: 'postgres-plain-settlement-without-version',
    rule: 'P2',
    breaks: 'A plain settlement is written over a state that it was not decided on.',
    edits: [
      edit('store/postgres/sql/plain.sql', 'c.version = _version[n] and c.runner = _runner', 'c.runner = _runner'),
    ],
    caughtBy: tests(PLAIN, 'a plain change that was decided on an older version is refused'),
  },
  {
    name: 'postgres-plain-without-identity',
    rule: 'P1',
    breaks: 'A plain claim creates a fire that is on record.',
    edits: [edit('store/postgres/sql/plain.sql', 'and _due_at[n] > greatest(c.mark, c.due_at) and', 'and')],
    caughtBy: tests(PLAIN, 'a plain claim of a fire that is on record is refused with its record'),
  },
  {
    name: 'postgres-mark-without-the-last-plain-claim',
    rule: 'P1',
    breaks: 'A plain claim, which leaves the mark unchanged, is not part of what the next claim must lie beyond.',
    edits: [
      edit('store/postgres/sql/plain.sql', '_due_at[n] > greatest(c.mark, c.due_at)', '_due_at[n] > c.mark'),
      edit('store/postgres/sql/apply.sql', '_mark := greatest(_clock.mark, _clock.due_at);', '_mark := _clock.mark;'),
    ],
    caughtBy: tests(PLAIN, 'a plain claim of a fire that a plain claim has created before is refused with its record'),
  },
  {
    name: 'postgres-mark-goes-with-the-schedule',
    rule: 'P1',
    breaks: 'A schedule that is made again does not know which fires its name has on record.',
    edits: [edit('store/postgres/sql/apply.sql', '_mark := coalesce(_name.mark, {none});', '_mark := {none};')],
    caughtBy: tests(CONFORMANCE, 'a fire of a schedule that was removed is on record for its successor'),
  },
  {
    name: 'postgres-plain-without-epoch',
    rule: 'P2',
    breaks: 'A plain change that was decided before a failover is written after it.',
    edits: [edit('store/postgres/sql/plain.sql', '_head.epoch = _at.epoch and not', 'not', 2)],
    caughtBy: tests(PLAIN, 'a plain change of another epoch is refused'),
  },
  {
    name: 'postgres-plain-without-lease',
    rule: 'P2',
    breaks: 'An instance that was declared dead claims.',
    edits: [edit('store/postgres/sql/plain.sql', 'if _claimant.number <> 0 and', 'if')],
    caughtBy: tests(PLAIN, 'only a live instance makes a plain claim'),
  },
  {
    name: 'postgres-plain-too-early',
    rule: 'P4',
    breaks: 'A plain claim is written before its time.',
    edits: [
      edit(
        'store/postgres/sql/plain.sql',
        '         and _due_at[n] > greatest(c.mark, c.due_at) and _not_before[n] <= _at.now',
        '         and _due_at[n] > greatest(c.mark, c.due_at)',
      ),
    ],
    caughtBy: tests(PLAIN, SAME),
  },
  {
    name: 'postgres-column-of-the-first',
    rule: 'P4',
    breaks: 'What the first schedule of a batch has is written for all of them.',
    edits: [edit('store/postgres/plain.ts', 'if (values[index] !== first) return', 'if (index < 0) return')],
    caughtBy: tests(PLAIN, SAME),
  },
  {
    name: 'postgres-plain-claim-of-another-plan',
    rule: 'P6',
    breaks: 'A claim that plans up to another time than its due time is written as if it did not.',
    edits: [edit('store/postgres/plain.ts', 'state.plannedTo === run.dueAt ? AS_DUE', 'run.dueAt > 0 ? AS_DUE')],
    caughtBy: tests(PLAIN, SAME),
  },
  {
    name: 'postgres-plain-settlement-of-another-number',
    rule: 'P6',
    breaks: 'A line that leaves a number out is written with the next one.',
    edits: [edit('store/postgres/plain.ts', ' && ended === latest.ended + 1', '')],
    caughtBy: tests(PLAIN, SAME),
  },
  {
    name: 'postgres-history-written-twice',
    rule: 'P6',
    breaks: 'A settlement writes two lines.',
    edits: [
      edit(
        'store/postgres/sql/plain.sql',
        '        from moved m\n    )',
        '        from moved m cross join (values (1), (2)) twice\n    )',
      ),
      edit('store/postgres/sql/tables.sql', '  primary key (key, due_at, number)\n', '  check (key > 0)\n'),
    ],
    caughtBy: tests(PLAIN, SAME),
  },
  {
    name: 'postgres-plain-claim-row-forgotten',
    rule: 'P3',
    breaks: 'A plain claim is not listed where recovery looks.',
    edits: [
      edit(
        'store/postgres/sql/plain.sql',
        '_at.now, array_agg(m.key) from moved m',
        '_at.now, array_agg(-m.key) from moved m',
      ),
    ],
    caughtBy: tests(PLAIN, 'a plain claim is held by its instance, and an orphan once that is dead'),
  },
  {
    name: 'postgres-claim-row-forgotten',
    rule: 'P3',
    breaks: 'A claim is not listed where recovery looks.',
    edits: [edit('store/postgres/sql/apply.sql', '_at.now, array_agg(w.key)\n', '_at.now, array_agg(-w.key)\n')],
    caughtBy: tests(
      RACES,
      'claims are deleted after the settlement that ends their last run, with a later claim or a heartbeat',
    ),
  },
  {
    name: 'postgres-claim-row-deleted-too-early',
    rule: 'P3',
    breaks: 'The row of a claim goes although one of its runs is open.',
    edits: [
      edit(
        'store/postgres/sql/records.sql',
        ' and (c.keys = _settled or not {schema}._names_runner(c.runner, c.keys))',
        '',
      ),
    ],
    caughtBy: tests(
      RACES,
      'a large claim keeps its keys while one of its runs is open, and its row until a later claim or a heartbeat',
    ),
  },
  {
    name: 'postgres-keys-of-a-claim-dropped-too-early',
    rule: 'P3',
    breaks: 'A large claim loses its keys although one of its runs is open.',
    edits: [
      edit(
        'store/postgres/sql/records.sql',
        "set keys = '{}' from done d where c.id = d.id and not d.has_later and d.n > {few}",
        "set keys = '{}' where c.id = any (_ids) and cardinality(c.keys) > {few}",
      ),
    ],
    caughtBy: tests(
      RACES,
      'a large claim keeps its keys while one of its runs is open, and its row until a later claim or a heartbeat',
    ),
  },
  {
    name: 'postgres-key-reused',
    rule: 'P1',
    breaks: 'A schedule that is made again gets another key, under which nothing is on record.',
    edits: [
      edit(
        'store/postgres/sql/apply.sql',
        'delete from {schema}._schedules s where s.key = _name.key;',
        'delete from {schema}._schedules s where s.key = _name.key; delete from {schema}._names n where n.key = _name.key;',
      ),
    ],
    caughtBy: tests(CONFORMANCE, 'a fire of a schedule that was removed is on record for its successor'),
  },
  {
    name: 'postgres-burial-without-lock',
    rule: 'P2',
    breaks: 'Declaring an instance dead misses a claim that commits at the same time.',
    edits: [
      edit(
        'store/postgres/sql/instances.sql',
        '  perform from {schema}._instances i where i.namespace = _namespace and i.id = _instance for update;\n',
        '',
      ),
    ],
    caughtBy: tests(
      RACES,
      'a claim that shared the row of its instance prevents an earlier decision to declare it dead',
    ),
  },
  {
    name: 'postgres-death-dated-before-the-lock',
    rule: 'P3',
    breaks: 'An instance is declared dead at a time when a claim of it could still begin.',
    edits: [
      edit(
        'store/postgres/sql/instances.sql',
        '  perform from {schema}._instances i where i.namespace = _namespace and i.id = _instance for update;\n  select m.now into _now from {schema}._moment() m;\n',
        '  select m.now into _now from {schema}._moment() m;\n  perform from {schema}._instances i where i.namespace = _namespace and i.id = _instance for update;\n',
      ),
    ],
    caughtBy: tests(RACES, 'an instance is declared dead at a time when no other transaction had its record'),
  },
  {
    name: 'postgres-leave-dated-before-the-lock',
    rule: 'P3',
    breaks: 'An instance has left before its last claim.',
    edits: [
      edit(
        'store/postgres/sql/instances.sql',
        '    perform from {schema}._instances i where i.namespace = _namespace and i.id = _b.id for no key update;\n',
        '',
      ),
    ],
    caughtBy: tests(
      RACES,
      'an instance that leaves while another transaction has its record ends after the claims of that time',
    ),
  },
  {
    name: 'postgres-plain-renewal-not-on-demand',
    rule: 'P2',
    breaks: 'A plain claim that must renew the lease only shares the record of its instance.',
    edits: [
      edit('store/postgres/sql/plain.sql', '_head.lease_ms, _head.renew, _at.now', '_head.lease_ms, false, _at.now'),
    ],
    caughtBy: tests(
      CONFORMANCE,
      'a claimant renews its lease as often as it asks to, and is not declared dead on an older look',
    ),
  },
  {
    name: 'postgres-plain-settlement-keeps-the-expected-start',
    rule: 'P6',
    breaks: 'A plain settlement records the start that the claim expected, not the one in its line.',
    edits: [
      edit('store/postgres/sql/plain.sql', 'c.token, c.job\n', 'c.token, c.job, c.started_at\n'),
      edit('store/postgres/sql/plain.sql', 'm.token, _started_at[m.n]', 'm.token, m.started_at'),
    ],
    caughtBy: tests(CONFORMANCE, 'a run that ended is listed with the start in its line, whatever the claim expected'),
  },
  {
    name: 'postgres-whole-look-within-the-look-ahead',
    rule: 'rule 49',
    breaks: 'A look that left schedules out asks for the next look within the time that it looked ahead.',
    edits: [edit('store/postgres/store.ts', 'wholeAt === null ? null : wholeAt + aheadMs', 'wholeAt')],
    caughtBy: tests(
      CONFORMANCE,
      'look after look answers what is ahead until it is changed, and mineAt lies beyond it',
    ),
  },
  {
    name: 'postgres-creation-beside-a-removal',
    rule: 'P1, P2',
    breaks:
      'A schedule that is made while it is removed begins with the numbers of before, so tokens and fires come back.',
    edits: [
      edit(
        'store/postgres/sql/apply.sql',
        'select * into _name from {schema}._names n where n.key = _name.key for no key update skip locked;\n',
        '\n',
      ),
    ],
    caughtBy: tests(
      RACES,
      'a schedule that is made again while it is removed goes on from its predecessor',
      'a schedule that is made again while its name is pruned has a name',
    ),
  },
  {
    name: 'postgres-overtaken-run-begins-a-step',
    rule: 'P3',
    breaks: 'A run that is overtaken while it begins a step takes the step from its successor.',
    edits: [
      edit('store/postgres/sql/steps.sql', 'p.token < excluded.token and $7', 'p.token <> excluded.token and $7'),
    ],
    caughtBy: tests(RACES, 'a run that is overtaken while it begins a step does not take the step from its successor'),
  },
  {
    name: 'postgres-pruned-ends-are-not-missed',
    rule: 'rule 47',
    breaks: 'A feed does not learn that ends were deleted before it read them.',
    edits: [edit('store/postgres/sql/prune.sql', 's.erased_in < e.ended_in);', 's.erased_in < e.ended_in) and false;')],
    caughtBy: tests(
      CONFORMANCE,
      'ends whose records were pruned before they were read are missing, and the page says so',
    ),
  },
  {
    name: 'postgres-forgets-who-ran',
    rule: 'P6',
    breaks: 'The name of an instance is deleted while a line of the history needs it.',
    edits: [
      edit(
        'store/postgres/sql/prune.sql',
        'r.gone_at > {none} and r.gone_at < coalesce((',
        'r.gone_at > {none} or r.gone_at < coalesce((',
      ),
    ],
    caughtBy: tests(
      RACES,
      'the name of an instance is kept until no fire on record is older than its end, and then deleted',
    ),
  },
  ...(['load', 'due'] as const).map(
    (read): Mutant => ({
      name: `postgres-${read}-with-a-later-snapshot`,
      rule: 'P7',
      breaks:
        'A claim is stamped with a time before the end of the run that it waited for: the record shows both at once.',
      edits: [lateSnapshot(`${LAST_ARGUMENT[read]} text) returns text`)],
      caughtBy: tests(RACES, `an answer of ${read} contains nothing that was written after its time`),
    }),
  ),
]
