import { edit, type Mutant } from '../mutant.ts'

/** Mutants of membership: leases, trust, dead instances and the runs that they leave. */
export const BEAT_MUTANTS: readonly Mutant[] = [
  {
    name: 'host-as-identity',
    rule: 'classic (f)',
    breaks: 'An instance is known by the name of its host.',
    edits: [edit('engine/instance.ts', 'fleetState(parts.newId())', 'fleetState(settings.host)')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/crash.test.ts',
      names: ['a job that takes its instances down is given up after three runs'],
    },
  },
  {
    name: 'no-reclaim',
    rule: 'P6, protocol (no reclaim)',
    breaks: 'The runs of a dead instance are never recovered.',
    edits: [
      edit(
        'engine/fleet/recover-peers.ts',
        '      if (left === before) break\n',
        '      if (left === before || round === 0) break\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C12', 'C1'] },
  },
  {
    name: 'recovered-from-the-living',
    rule: 'rule 13',
    breaks: 'That an instance is missing on a list is enough to run its fires again.',
    edits: [
      edit(
        'engine/fleet/recover-peers.ts',
        'if (!live.has(id)) this.#seen.delete(id)',
        'if (!live.has(id)) void this.recoverRuns(id).then(() => this.#seen.delete(id))',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/old-answers.test.ts',
      names: ['an instance that a list lacks is not dead: the list may be older than the one before it'],
    },
  },
  {
    name: 'recovered-when-expired',
    rule: 'rule 13',
    breaks: 'The fires of an instance whose lease has expired run again although no peer has declared it dead.',
    edits: [
      edit(
        'engine/fleet/housekeeping.ts',
        '    const told = core.fleet.chores.orphans\n',
        '    const told = [...core.fleet.chores.orphans, ...core.fleet.peers.filter((peer) => peer.expired).map(({ id }) => id)]\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S1', 'S3', 'C2'] },
  },
  {
    name: 'buried-without-watching',
    rule: 'rule 14',
    breaks: 'An instance that is expired by the clock of the store is declared dead by the first peer that looks.',
    edits: [
      edit(
        'engine/fleet/recover-peers.ts',
        'if (peer.id === core.fleet.instance || last === undefined || now - last.at < leaseMs) continue',
        'if (peer.id === core.fleet.instance || last === undefined) continue',
      ),
      edit(
        'engine/fleet/recover-peers.ts',
        '    const now = clock.mono()\n    for (const peer of core.fleet.peers) {',
        '    const now = this.#lookedAt\n    for (const peer of core.fleet.peers) {',
      ),
      edit(
        'engine/fleet/recover-peers.ts',
        'return at + (running > 0 ? leaseMs : leaseMs * IDLE_LEASES)',
        'return at + (running < 0 ? leaseMs : leaseMs / 10)',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S1', 'C2'] },
  },
  {
    name: 'grace-cut-short-by-a-stop',
    rule: 'rule 15',
    breaks: 'An instance that stops declares a peer dead that has renewed within the grace.',
    edits: [
      edit(
        'engine/fleet/recover-peers.ts',
        '    if (core.stopped.aborted) return\n    const stillGone',
        '    const stillGone',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/claim-ahead.test.ts',
      names: ['an instance that stops within the grace of a peer that seems dead does not declare it dead'],
    },
  },
  {
    name: 'outage-blamed-on-others',
    rule: 'rule 14',
    breaks: 'A peer that could not read the store concludes that no instance has renewed.',
    edits: [
      edit(
        'engine/fleet/recover-peers.ts',
        '    if (this.#wasBlind(now)) {\n',
        '    if (this.#wasBlind(now) && now < 0) {\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/outage.test.ts',
      names: ["after an outage (throws) no run is taken over within a lease of the store's return"],
    },
  },
  {
    name: 'lease-by-the-observer',
    rule: 'rule 14, protocol (lease by client clock)',
    breaks: 'The wall clock of the observing peer decides whose lease has expired.',
    edits: [
      edit(
        'engine/fleet/recover-peers.ts',
        'if (peer.id === core.fleet.instance || last === undefined || now - last.at < leaseMs) continue',
        'if (peer.id === core.fleet.instance || last === undefined || clock.wall() - peer.renewedAt < leaseMs) continue',
      ),
      edit(
        'engine/fleet/recover-peers.ts',
        "      if (peer.expired) await this.#declareDead(peer, 'lease')\n",
        "      if (last.renewals >= 0) await this.#declareDead(peer, 'lease')\n",
      ),
      edit('engine/fleet/recover-peers.ts', "hint: by === 'probe' }", 'hint: by !== null }'),
      edit(
        'engine/fleet/recover-peers.ts',
        'return at + (running > 0 ? leaseMs : leaseMs * IDLE_LEASES)',
        'return at + (running < 0 ? leaseMs : leaseMs / 10)',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S1', 'C2'] },
  },
  {
    name: 'trust-by-one-clock',
    rule: 'rule 44',
    breaks: 'A machine that was suspended trusts its lease, since its monotonic clock stood still.',
    edits: [edit('engine/fleet/lease.ts', 'const now = clock[expiresBy]', 'const now = clock.mono')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/pause.test.ts',
      names: ['a lease that ran out unnoticed (suspended) starts no step, although no peer has taken over'],
    },
  },
  {
    name: 'trust-from-the-answer',
    rule: 'rule 18',
    breaks: 'A lease is counted from when the answer came, not from when it was asked for.',
    edits: [
      edit(
        'engine/fleet/lease.ts',
        '    renewed(sent, leaseMs) {\n',
        '    renewed(_, leaseMs) {\n      const sent = { mono: clock.mono(), at: now(), wall: clock.wall() }\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/pause.test.ts',
      names: ['a claim whose answer comes after the lease has run out is not started'],
    },
  },
  {
    name: 'wall-clock-ends-the-trust',
    rule: 'rule 44',
    breaks: 'Trust in a lease ends by the wall clock, so setting it forward loses every run of the host.',
    edits: [edit('engine/fleet/lease.ts', 'const now = clock[expiresBy]', 'const now = clock.wall')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/clock-step.test.ts',
      names: ['by 20000 ms on the host ends no run: each fire runs once'],
    },
  },
  {
    name: 'jump-unnoticed',
    rule: 'rule 44',
    breaks: 'A machine that was frozen begins steps before it has asked the store whether its lease is lost.',
    edits: [edit('engine/fleet/lease.ts', 'if (Math.abs(clock.wall() - mono - drift) > jumpMs) jumpedAt = mono\n', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/clock-step.test.ts',
      names: [
        'starts no step until the store has answered, and none if another instance has taken over',
        'makes the instance renew before a step starts, and the step waits for the answer',
      ],
    },
  },
  {
    name: 'clone-renews',
    rule: 'rule 44',
    breaks: 'A store takes heartbeats of two machines from one snapshot for those of one instance.',
    edits: [edit('store/memory/instances.ts', '(sequence.after <= last && last < sequence.number)', 'last >= 0')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/clone.test.ts',
      names: ['two machines from one snapshot: one goes on under a new id, and each fire runs once'],
    },
  },
  {
    name: 'overtaken-heartbeat-is-a-clone',
    rule: 'rule 44',
    breaks: 'An instance whose heartbeat arrives after a later one of its own takes itself for a clone.',
    edits: [
      edit(
        'engine/fleet/heartbeat.ts',
        'if (answer.number !== null && (number < this.#sentNumber || sequence.after < this.#ackedNumber)) return\n',
        '',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/clone.test.ts',
      names: ['a heartbeat that arrives after a later one, or twice, changes nothing'],
    },
  },
  {
    name: 'jump-is-a-verdict',
    rule: 'rule 44',
    breaks: 'A step that finds that the wall clock has jumped gives the run up instead of asking the store.',
    edits: [
      edit(
        'engine/fleet/trust.ts',
        'while (core.lease.jumped() && core.lease.trusted() && !core.stopped.aborted) await core.confirm()\n  return core.lease.trusted()',
        'return core.lease.trusted() && !core.lease.jumped()',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/clock-step.test.ts',
      names: ['makes the instance renew before a step starts, and the step waits for the answer'],
    },
  },
  {
    name: 'renews-too-rarely',
    rule: 'rule 18',
    breaks: 'An instance that holds runs renews as rarely as one that holds none, and later than its lease lasts.',
    edits: [
      edit(
        'engine/fleet/heartbeat.ts',
        'core.runs.size > 0 ? leaseMs / 3 : (leaseMs * 2) / 3',
        'core.runs.size > 0 ? leaseMs * 2 : (leaseMs * 2) / 3',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C10', 'C2'] },
  },
  {
    name: 'fenced-runs-go-on',
    rule: 'rule 8',
    breaks: 'An instance that was declared dead joins again and does not report its runs.',
    edits: [
      edit('engine/fleet/heartbeat.ts', "    for (const run of core.runs.all()) run.abort('fenced', null)\n", ''),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/pause.test.ts',
      names: [
        'an instance that was paused for longer than its lease loses its runs, reports it, and goes on under a new id',
      ],
    },
  },
  {
    name: 'drain-untold',
    rule: 'rule 8',
    breaks:
      'An instance that stops is not reported until its next heartbeat: its share of the work starts late meanwhile.',
    edits: [edit('engine/fleet/heartbeat.ts', 'const wake = isDraining ||', 'const wake =')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/stop.test.ts',
      names: ['while an instance finishes its runs, its peers do its share of the work on time'],
    },
  },
  {
    name: 'drained-settlement-wakes-no-peer',
    rule: 'rule 8',
    breaks: 'A fire that waits for a run of a draining instance waits on until that instance has left.',
    edits: [edit('engine/claim/buckets.ts', 'if (stopping || fleet.drained || !(parts', 'if (!(parts')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/stop.test.ts',
      names: ['fires that a run leaves waiting in a draining instance start in a peer at once'],
    },
  },
  {
    name: 'drained-transaction-wakes-no-peer',
    rule: 'rule 8',
    breaks: 'The same behind a transaction, which settles its run by itself.',
    edits: [edit('engine/run/transact.ts', 'core.leftForPeers++', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/stop.test.ts',
      names: ['fires that a run leaves waiting in a draining instance start in a peer at once'],
    },
  },
  {
    name: 'farewell-before-the-end',
    rule: 'P9',
    breaks: 'An instance leaves before what it gave up is handed back.',
    edits: [edit('engine/instance.ts', '    await this.#within(LEAVE_MS, this.quiet())\n', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/stop.test.ts',
      names: ['a run that ignores the stop is left behind, and its fire runs elsewhere'],
    },
  },
]
