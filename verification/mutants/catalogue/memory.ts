import { edit, type Mutant } from '../mutant.ts'

/** Mistakes in the store. The simulation runs on the one in memory; that of SQLite has mutants of its own. */
export const MEMORY_MUTANTS: readonly Mutant[] = [
  {
    name: 'no-unique-key',
    rule: 'P1, rule 1, classic (a)',
    breaks: 'A fire that is on record is created once more, over the old record.',
    edits: [
      edit(
        'store/memory/apply.ts',
        "    if (entry !== undefined) return { kind: 'exists', fire: viewFire(space, entry) }\n",
        '',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S8', 'C2', 'C10'] },
  },
  {
    name: 'no-version-check',
    rule: 'P2, protocol (update without compare-and-set)',
    breaks: 'What was decided on an old state is written over a newer one.',
    edits: [edit('store/memory/apply.ts', ' || (current?.version ?? 0) !== change.version) return', ') return')],
    caughtBy: { judge: 'simulation', names: ['S9', 'S1', 'S2', 'C2'] },
  },
  {
    name: 'epoch-not-asked',
    rule: 'rule 10, rule 32',
    breaks: 'What was decided before the store fell back to an older copy is written after it.',
    edits: [edit('store/memory/apply.ts', 'if (change.epoch !== space.epoch || ', 'if (')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/store/memory-conformance.test.ts',
      names: ['a change is applied in the epoch it was decided in, which comes with what was read'],
    },
  },
  {
    name: 'mark-before-insert',
    rule: 'P5, classic (d)',
    breaks: 'The high-water mark is written before it is known whether the records can be.',
    edits: [
      edit('store/memory/apply.ts', '  if (refusal !== undefined) return refusal\n', ''),
      edit(
        'store/memory/apply.ts',
        '  for (const fire of change.reopens) reopen(space, fire)\n',
        '  if (refusal !== undefined) return refusal\n  for (const fire of change.reopens) reopen(space, fire)\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S3', 'S10', 'S12', 'S13', 'C10'] },
  },
  {
    name: 'early-by-the-store',
    rule: 'P4',
    breaks: "The store does not ask its own clock whether a fire's time has come.",
    edits: [
      edit('store/memory/apply.ts', '  if (change.notBefore !== null && now < change.notBefore) return EARLY\n', ''),
    ],
    caughtBy: { judge: 'simulation', names: ['S7', 'C5'] },
  },
  {
    name: 'limits-not-counted',
    rule: 'P7, rule 34',
    breaks: 'The limit of a job or a group is looked up before the runs of the same change are counted.',
    edits: [
      edit(
        'store/memory/apply.ts',
        ' + countHolders(slot, change.state) - countHolders(slot, current)',
        ' - countHolders(slot, current)',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S10', 'C7'] },
  },
  {
    name: 'token-reset-on-removal',
    rule: 'rule 10, protocol (token reset)',
    breaks: 'A schedule that is removed and made again counts its tokens from one.',
    edits: [
      edit(
        'store/memory/apply.ts',
        '    setFloor(space, Math.max(space.data.floor, current.tokens, current.version))\n',
        '    setFloor(space, Math.max(space.data.floor, current.version))\n',
      ),
      edit('store/memory/apply.ts', 'tokens: Math.max(state.tokens, data.floor)', 'tokens: state.tokens'),
    ],
    caughtBy: { judge: 'simulation', names: ['S2', 'S5', 'C2', 'C14'] },
  },
  {
    name: 'claim-by-the-dead',
    rule: 'rule 6, protocol (no fence on renew)',
    breaks: 'A claim does not ask whether its instance has been declared dead.',
    edits: [
      edit(
        'store/memory/apply.ts',
        '  const isLive = claimant === undefined || renew(space, now, claimant)\n',
        '  const isLive = claimant === undefined || renew(space, now, claimant) || claimant.leaseMs > 0\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S4', 'S1', 'S3', 'C12'] },
  },
  {
    name: 'dead-renew',
    rule: 'rule 13, classic (e), protocol (renew resurrects)',
    breaks: 'A heartbeat is accepted by name: an instance that was declared dead is live again.',
    edits: [
      edit(
        'store/memory/instances.ts',
        '  if (known === undefined ? !join : known.goneAt !== null) return false\n',
        '  if (known === undefined && !join) return false\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S4', 'C2'] },
  },
  {
    name: 'leases-not-clamped',
    rule: 'rule 14',
    breaks: 'After the clock of the store was set back, a lease of the dead seems to hold for hours.',
    edits: [
      edit(
        'store/memory/instances.ts',
        '    if (known.leaseUntil > now + known.leaseMs) setInstance(space, id, { ...known, leaseUntil: now + known.leaseMs })\n',
        '',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S4', 'S1', 'C1', 'C12'] },
  },
  {
    name: 'step-of-the-overtaken',
    rule: 'P3, protocol (no fence on once)',
    breaks: 'A step is begun without asking whether its run is still the current one.',
    edits: [
      edit(
        'store/memory/steps.ts',
        '  if (run === undefined || run.dueAt !== fire.dueAt || run.nonce !== fire.nonce) return STALE\n',
        '  if (run !== undefined && (run.dueAt !== fire.dueAt || run.nonce !== fire.nonce)) return STALE\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S3', 'C8'] },
  },
  {
    name: 'fence-by-holder',
    rule: 'P3, protocol (fence by holder)',
    breaks: 'A run may write as long as a run of its schedule is open on an instance that lives.',
    edits: [
      edit(
        'store/memory/space.ts',
        'open.find(({ run }) => run?.token === token)',
        'open.find(({ run }) => run !== null)',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S3', 'C8'] },
  },
  {
    name: 'step-ended-by-anybody',
    rule: 'rule 11',
    breaks: 'A step is ended by a run that did not begin it.',
    edits: [edit('store/memory/steps.ts', '      if (known.token !== command.token) return STALE\n', '')],
    caughtBy: { judge: 'simulation', names: ['S6', 'S3', 'C3', 'C8'] },
  },
  {
    name: 'unknown-step-rerun',
    rule: 'rule 11',
    breaks: 'A step that an earlier run began, and whose end is unknown, is silently begun again.',
    edits: [
      edit(
        'store/memory/steps.ts',
        "  if (known?.state === 'begun' && !rerun) return { kind: 'unknown', token: known.token }\n",
        '',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S6', 'C3'] },
  },
  {
    name: 'step-done-twice',
    rule: 'protocol (effect not idempotent)',
    breaks: 'A step that is done is done again by the next attempt.',
    edits: [
      edit(
        'store/memory/steps.ts',
        "  if (known?.state === 'done') return done(known)\n  if (known?.state === 'begun' && known",
        "  if (known?.state === 'begun' && known",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S6', 'C3'] },
  },
  {
    name: 'commit-of-the-overtaken',
    rule: 'P3, P6, rule 8',
    breaks: 'A transaction whose run is not current any more is not settled, but its writes are kept.',
    edits: [
      edit(
        'store/memory/store.ts',
        'liveRun(space(), schedule, token) === undefined) return false\n',
        'liveRun(space(), schedule, token) === undefined) return true\n',
      ),
      edit(
        'store/memory/store.ts',
        '    if (change === null) return false\n',
        '    if (change === null) return true\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/pause.test.ts',
      names: ['a transaction that was open while its instance was paused is rolled back'],
    },
  },
  {
    name: 'pruned-early',
    rule: 'rule 3, classic (g)',
    breaks: 'Records go a day before they may.',
    edits: [edit('store/memory/prune.ts', 'if (entry.expiresAt > now ||', 'if (entry.expiresAt > now + DAY_MS ||')],
    caughtBy: { judge: 'simulation', names: ['S12', 'C10'] },
  },
]
