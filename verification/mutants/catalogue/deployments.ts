import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const engine = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy.test.ts',
  names,
})
const rules = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-rules.test.ts',
  names,
})
const declaredDead = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-declared-dead.test.ts',
  names,
})
const renames = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-rename.test.ts',
  names,
})
const renamedBack = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-rename-holder.test.ts',
  names,
})
const lateRenames = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-late-rename.test.ts',
  names,
})
const continued = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/policy/continue-job.test.ts',
  names,
})
const record = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/policy/deployment.test.ts',
  names,
})
const verdict = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/policy/retirement.test.ts',
  names,
})

const definition = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/policy/define.test.ts',
  names,
})
const taken = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-taken.test.ts',
  names,
})

const oldNames = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-old-names.test.ts',
  names,
})

const namedTwice = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-named-twice.test.ts',
  names,
})

/** Mistakes in what deployments do to schedules. */
export const DEPLOYMENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'redated-instant-lost',
    rule: 'P5, rule 42',
    breaks: 'A job that gets another name and another, passed instant at once leaves that on no record.',
    edits: [
      edit('policy/operate/define.ts', 'at === null) return\n  if (!isAmong', 'at !== -1) return\n  if (!isAmong'),
    ],
    caughtBy: oldNames(
      'a due time that a job gets together with its new name, and that has passed, is missed unless it is on record',
    ),
  },
  {
    name: 'unread-instant-keeps-the-name',
    rule: 'P5, rule 42',
    breaks: 'A job with one instant that has passed never gets its name from the app that has retired it.',
    edits: [edit('policy/deploy/yielding.ts', 'decision.refused === RECORD_UNREAD ? RECORD_UNREAD : null', 'null')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy-moves.test.ts',
      names: [
        'a job with a single due time that has passed takes its name from an app that no longer has it, and is on record once',
      ],
    },
  },
  {
    name: 'late-instant-behind-the-cron-lost',
    rule: 'P5',
    breaks: 'One instant that is deployed late leaves no record if the cron before it has gone past it.',
    edits: [
      edit(
        'policy/operate/define.ts',
        'return from > now ? now : markBefore(draft, from, wanted.onRecord ?? [])',
        'return now',
      ),
    ],
    caughtBy: definition(
      'one instant in code that the cron before it has gone past is on record, as misfire skip requires',
    ),
  },
  {
    name: 'late-instant-recorded-twice',
    rule: 'P1, P5',
    breaks: 'One instant that is deployed late is planned again though a range on record covers it.',
    edits: [
      edit(
        'policy/operate/define.ts',
        "record.nonce === '' && covers(record, at)",
        "record.nonce === '' && record.dueAt === at",
      ),
    ],
    caughtBy: definition(
      'one instant in code that is on record already is not planned again, be it alone, in a range or still open',
    ),
  },
  {
    name: 'late-instant-run-after-its-record-was-deleted',
    rule: 'P1',
    breaks: 'One instant that is deployed again runs again if the record of its first run has been deleted.',
    edits: [
      edit('policy/operate/define.ts', 'if (at >= keptSince(state, context.now)) return at - 1', 'return at - 1'),
    ],
    caughtBy: definition('one instant in code is missed if its record may have been deleted: it may have run'),
  },
  {
    name: 'late-instant-of-a-retired-schedule-lost',
    rule: 'P5',
    breaks: 'One instant that passed while its schedule was retired leaves no record when the schedule returns.',
    edits: [
      edit(
        'policy/operate/define.ts',
        'if (!isMoved && (from <= mark || isRenamed(draft.state))) return',
        'if (!isMoved) return',
      ),
    ],
    caughtBy: definition(
      'one instant in code that passed while its schedule was retired is on record, as misfire skip requires after 1 h',
    ),
  },
  {
    name: 'planned-again-under-another-limit',
    rule: 'P5',
    breaks: "After the store's clock was set back, another limit plans again what is on record.",
    edits: [
      edit(
        'policy/operate/define.ts',
        '!hasSameInstants(old, wanted.definition)',
        '!hasSameTiming(old, wanted.definition)',
      ),
    ],
    caughtBy: definition('another limit does not plan again what is on record, also if the clock was set back since'),
  },
  {
    name: 'instant-run-again-after-a-rollback',
    rule: 'P1',
    breaks: 'One instant that has run is planned again when its retired schedule returns and its record was deleted.',
    edits: [
      edit(
        'policy/operate/define.ts',
        '!isMoved && (from <= mark || isRenamed(draft.state))',
        '!isMoved && isRenamed(draft.state)',
      ),
    ],
    caughtBy: definition(
      'one instant in code that has run does not run again when a retired schedule returns, also without its record',
    ),
  },
  {
    name: 'late-instant-lost-by-a-rename',
    rule: 'P5',
    breaks:
      'One instant that passed while its schedule was retired leaves no record when the job returns under a new name.',
    edits: [edit('policy/operate/define.ts', 'isOnce || isRenamed(holder)', 'isRenamed(holder)')],
    caughtBy: definition(
      'one instant in code goes to the name that takes over from a retired one, unless the old name has planned it',
    ),
  },
  {
    name: 'taken-name-never-freed',
    rule: 'rule 42',
    breaks: 'A declaration that was refused because its name was taken is not tried again when the name is free.',
    edits: [edit('engine/deploy/declare-schedules.ts', "'SCHEDULE_BUSY', NAME_TAKEN]", "'SCHEDULE_BUSY']")],
    caughtBy: taken('a job that moves to another live app goes on there once its old app has retired it'),
  },
  {
    name: 'job-of-another-app-run',
    rule: 'rule 42',
    breaks: 'A process runs the fires of another app that has a job of the same name.',
    edits: [
      edit('engine/claim/buckets.ts', 'if (source.app !== core.settings.app) return false', ''),
      edit('engine/claim/buckets.ts', '.filter((job) => !elsewhere.has(job))', ''),
    ],
    caughtBy: taken(
      'of two apps that have a job of one name, the one that had it first alone runs it, and both report it',
    ),
  },
  {
    name: 'taken-new-name-stops-the-job',
    rule: 'rule 42',
    breaks: 'A job whose new name is taken runs under neither name once the processes of the old release have left.',
    edits: [edit('engine/deploy/other-names.ts', "state?.source.kind === 'code' && isWaiting(id, old)", 'false')],
    caughtBy: taken(
      'a job whose new name is taken runs under its old one, also without the old processes, until the name is free',
    ),
  },
  {
    name: 'old-name-of-a-newer-release-run',
    rule: 'rule 42',
    breaks: 'A process whose new name is taken runs under the old one what a newer release has defined there.',
    edits: [edit('engine/claim/buckets.ts', 'upTo !== null && source.number <= upTo', 'upTo !== null')],
    caughtBy: taken(
      'a process whose new names are taken leaves the old ones to a newer release that has other jobs of these names',
    ),
  },
  {
    name: 'old-name-never-taken-up-again',
    rule: 'rule 42',
    breaks: 'A job whose new name is taken stops for ever when a release that had it under its old name came and went.',
    edits: [edit('engine/deploy/other-names.ts', 'upTo: state.source.number,', 'upTo: 2,')],
    caughtBy: taken('a job whose new name is taken goes on after a rollback that was undone'),
  },
  {
    name: 'taken-new-name-retires-the-job',
    rule: 'rule 42',
    breaks:
      'Without ids, a job whose new name is taken is retired under its old name when the old processes have left.',
    edits: [edit('policy/deploy/retirement.ts', 'isDeclared(name) && !active.has(name)', 'false')],
    caughtBy: taken('a job whose new name is taken is not retired when its app has other jobs, with or without ids'),
  },
  {
    name: 'long-gone-app-keeps-its-names',
    rule: 'rule 42',
    breaks: 'Functions that only call runDue never get the names of an app that has left.',
    edits: [
      edit('engine/deploy/take-names.ts', ' || ended.every(({ renewedAt }) => now - renewedAt >= LONG_GONE_MS)', ''),
    ],
    caughtBy: taken('functions that only call runDue take over the names of an app that left an hour ago'),
  },
  {
    name: 'draining-app-yields-its-names',
    rule: 'rule 42',
    breaks: 'Another app takes over the jobs of an app whose processes still finish their runs.',
    edits: [
      edit(
        'engine/deploy/watch-deployments.ts',
        'core.fleet.peers.filter(({ jobs }) => jobs.length > 0)',
        "core.fleet.peers.filter(({ jobs, state }) => jobs.length > 0 && state === 'live')",
      ),
      edit(
        'engine/deploy/take-names.ts',
        'instances: all.filter(isThere),',
        "instances: all.filter(({ state }) => state === 'live'),",
      ),
    ],
    caughtBy: taken(
      'an app that drains keeps its names until it has left or died, and yields them after the hold-down',
    ),
  },
  {
    name: 'hung-process-claims-a-job-that-was-taken-over',
    rule: 'rule 42',
    breaks: 'A process that hung reports that its app alone runs a job which another app has taken over.',
    edits: [edit('engine/deploy/report-refusals.ts', 'if (!held.has(schedule)) continue', '')],
    caughtBy: taken('a process that hung while another app took over its job does not report that it runs the job'),
  },
  {
    name: 'refusals-reported-by-each-about-each',
    rule: 'rule 42',
    breaks: 'Of many processes whose declarations are refused, each reports all of them.',
    edits: [
      edit(
        'engine/deploy/report-refusals.ts',
        'if (this.#refusals.some((own) => own.code === code && own.schedule === schedule)) continue',
        '',
      ),
      edit('engine/deploy/report-refusals.ts', '{its}`, {', '{instance}`, {'),
    ],
    caughtBy: taken('each of many processes whose declarations are refused reports it once'),
  },
  {
    name: 'pruned-deployment-gone-since-defined',
    rule: 'rule 42',
    breaks: 'A schedule that a script declared is retired early, because the record has lost when its deployment left.',
    edits: [edit('policy/deploy/retirement.ts', 'prunedDefiner(app, state)?.goneAt ?? ', '')],
    caughtBy: verdict('implicit: schedules of a deployment that was pruned since are kept for a day after it left'),
  },
  {
    name: 'old-deployment-flips-back',
    rule: 'P8, rule 30, rule 42',
    breaks: 'The process that starts last defines the schedule, also when a newer deployment is live.',
    edits: [
      edit(
        'policy/operate/define.ts',
        'if (higher !== null) return superseded(id, app.name, higher.id)\n  const isSame',
        'const isSame',
      ),
    ],
    caughtBy: engine('an old process that restarts does not flip the schedule back'),
  },
  {
    name: 'hold-down-ignored',
    rule: 'rule 42',
    breaks: 'A release whose processes are away for a moment makes the old definitions count again.',
    edits: [
      edit(
        'policy/deploy/deployment.ts',
        '({ id, lost, number, declares }) => id !== me && !lost && number',
        '({ id, goneAt, number, declares }) => id !== me && goneAt === null && number',
      ),
    ],
    caughtBy: record(
      'a definition is that of the highest number; a lost one gives way to the next, and takes over when it is back',
    ),
  },
  {
    name: 'retires-other-apps',
    rule: 'rule 42',
    breaks: 'Jobs of other apps are retired, since this one does not declare them.',
    edits: [
      edit('policy/deploy/retire.ts', ' || source.app !== app || ', ' || '),
      edit('policy/deploy/retire.ts', ' || source.app !== by.app || ', ' || '),
      edit('policy/deploy/retirement.ts', ' || source.app !== app.name || ', ' || '),
      edit('engine/deploy/retire-schedules.ts', '{ app, after, limit: BATCH }', '{ after, limit: BATCH }'),
    ],
    caughtBy: engine('apps that share a namespace do not touch each other'),
  },
  {
    name: 'retired-goes-on',
    rule: 'P8, rule 42',
    breaks: 'A schedule that has open fires when its job leaves the code is not retired.',
    edits: [
      edit(
        'policy/deploy/retire.ts',
        'set(draft, { retiredAt: context.now, retirements',
        'set(draft, { retiredAt: draft.open.length > 0 ? null : context.now, retirements',
      ),
    ],
    caughtBy: engine(
      'a job that left the code stops firing: what runs goes on, what waits ends after the misfire window',
    ),
  },
  {
    name: 'script-gets-a-number',
    rule: 'rule 42',
    breaks: 'A process without jobs registers as a deployment, and decides.',
    edits: [
      edit('policy/deploy/deployment.ts', 'if (declaring.declares.length === 0) return null\n', ''),
      edit(
        'engine/deploy/deploy.ts',
        'if (core.settings.declared.length === 0 || core.parts.jobs.size === 0) return IDLE\n',
        '',
      ),
    ],
    caughtBy: rules(
      'a script without jobs declares nothing: no number, no record, nothing retired, with or without an id',
    ),
  },
  {
    name: 'live-job-retired-without-id',
    rule: 'P5, rule 42',
    breaks: 'What a live process without an id declares is retired, because another process does not declare it.',
    edits: [
      edit(
        'policy/deploy/retirement.ts',
        '  if (by.some(({ deployment }) => findDeployment(app, deployment)?.explicit !== true)) return KEEP\n',
        '',
      ),
      edit('policy/deploy/retirement.ts', '  if (by.length > 0) return KEEP\n', ''),
      edit(
        'policy/deploy/retirement.ts',
        '  if (declarers.some(({ id, lost }) => !lost || !absent.has(id))) return WAIT\n',
        '',
      ),
    ],
    caughtBy: verdict('implicit: what a live process declares is never retired'),
  },
  {
    name: 'retire-after-ignored',
    rule: 'rule 42',
    breaks: 'What a live process of an older release declares is retired as soon as the newest release is steady.',
    edits: [
      edit(
        'policy/deploy/retirement.ts',
        'if (by.length > 0 && !goesOn) return seen.outwaited.has(schedule) ? verdict',
        'if (by.length > 0 && !goesOn) return seen.steady.has(newest.id) ? verdict',
      ),
    ],
    caughtBy: rules(
      'with ids, what a live older process declares is retired after retireAfter, with a warning on both sides from the start',
    ),
  },
  {
    name: 'explicit-overrules-implicit',
    rule: 'rule 42',
    breaks: 'An explicit deployment retires what a live process without an id declares.',
    edits: [
      edit(
        'policy/deploy/retirement.ts',
        'findDeployment(app, deployment)?.explicit !== true',
        'findDeployment(app, deployment) === undefined',
      ),
    ],
    caughtBy: verdict(
      'explicit: what a live process without an id declares is never retired, nor what an unknown process does',
    ),
  },
  {
    name: 'role-not-remembered',
    rule: 'rule 42',
    breaks: 'A deployment has only what its latest process declares: web and worker retire the jobs of each other.',
    edits: [
      edit('policy/deploy/deployment.ts', 'new Set([...first.declares, ...added])', 'new Set(declaring.declares)'),
    ],
    caughtBy: record('everything that any process of a deployment ever declared belongs to it'),
  },
  {
    name: 'reboot-looks-like-rollback',
    rule: 'rule 42',
    breaks: 'An old server that reboots gets a new number although a newer deployment is live.',
    edits: [
      edit(
        'policy/deploy/deployment.ts',
        'return !app.deployments.some((other) => other.number > number && live.has(other.id))',
        'return true',
      ),
    ],
    caughtBy: record('an old server that reboots while a newer deployment runs keeps its number'),
  },
  {
    name: 'crash-loop-flaps',
    rule: 'rule 42',
    breaks: 'A release that crashes in a loop counts whenever it is up.',
    edits: [
      edit(
        'policy/deploy/deployment.ts',
        'onProbation: known.onProbation || diedEarly.has(known.id)',
        'onProbation: known.onProbation',
      ),
    ],
    caughtBy: record(
      'a release that dies soon after it became ready is on probation, and counts again after a whole hold-down',
    ),
  },
  {
    name: 'retirement-not-guarded',
    rule: 'rule 42',
    breaks: 'A retirement is written although a process has registered since it was decided.',
    edits: [
      edit(
        'engine/deploy/guarded-writes.ts',
        'const guard = { app: { name: record.name, version: record.version } }',
        'const guard = {}',
      ),
    ],
    caughtBy: rules(
      'a retirement that is under way is refused when a process registers meanwhile, and nothing is lost',
    ),
  },
  {
    name: 'blind-observer-takes',
    rule: 'rule 42',
    breaks: 'A process whose heartbeats are not answered takes the names of an app that had left when it looked last.',
    edits: [edit('engine/deploy/watch-deployments.ts', 'this.#isBlind() ? new Set() : clock.heldFor', 'clock.heldFor')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy-moves.test.ts',
      names: ['an app that could not look for a while does not count that time as the absence of another one'],
    },
  },
  {
    name: 'blind-observer-retires',
    rule: 'rule 42',
    breaks: 'An observer counts the time in which it could not look as absence of the others.',
    edits: [
      edit(
        'engine/deploy/watch-deployments.ts',
        'if (this.#isBlind() || isNewInstance || isRolledBack) this.restart()',
        'if (isRolledBack) this.restart()',
      ),
    ],
    caughtBy: rules(
      'an observer that was paused or has just started retires nothing before it has looked for the hold-down',
    ),
  },
  {
    name: 'returns-by-an-old-list',
    rule: 'rule 42',
    breaks:
      'A process that was declared dead, and goes on before its heartbeat, replaces a release that is newer than its list.',
    edits: [edit('engine/deploy/register-process.ts', 'if (known === null || isRecordedLive)', 'if (true)')],
    caughtBy: declaredDead(
      'a process that was silent for a lease finds a newer release when it goes on, and does not replace it',
      'a process whose death was noticed at once finds a newer release when it goes on, and does not replace it',
    ),
  },
  {
    name: 'registers-though-declared-dead',
    rule: 'rule 42',
    breaks: 'A process that was declared dead, and goes on before its heartbeat, registers before it has joined again.',
    edits: [edit('engine/deploy/register-process.ts', "return 'not-live'", 'void 0')],
    caughtBy: declaredDead(
      'a process that was declared dead and reads the record before it joins again has not been live for the hold-down',
    ),
  },
  {
    name: 'steady-though-declared-dead',
    rule: 'rule 42',
    breaks: 'A release on probation counts again, though its process was declared dead within the hold-down.',
    edits: [edit('engine/deploy/watch-deployments.ts', ' || isNewInstance || ', ' || ')],
    caughtBy: declaredDead(
      'a release that died early counts after a whole hold-down in which its process was not declared dead',
    ),
  },
  {
    name: 'undone-from-now',
    rule: 'P5, rule 42',
    breaks: 'A retirement by mistake that is undone skips the instants in between without a record.',
    edits: [edit('policy/operate/define.ts', "return last.cause === 'absent' || (", 'return false && (')],
    caughtBy: rules(
      'with ids, what is declared after all by the deployment that dropped it continues without losing instants',
    ),
  },
  {
    name: 'names-never-yielded',
    rule: 'rule 42',
    breaks: 'A name belongs to an app forever, even after the app has left.',
    edits: [
      edit(
        'policy/deploy/yielding.ts',
        'return isGone || (retiredAt !== null && !isOldName(state))',
        'return retiredAt !== null',
      ),
    ],
    caughtBy: rules('an app without a live process for the hold-down yields its names; a live one does not'),
  },
  {
    name: 'second-definition-wins',
    rule: 'rule 42',
    breaks: 'Two processes of one deployment with different definitions change the schedule back and forth.',
    edits: [
      edit(
        'policy/operate/define.ts',
        'if (!isSameNumber || isEqual(definition, wanted.definition)) return null',
        "if (!isSameNumber || id !== '') return null",
      ),
    ],
    caughtBy: rules('two processes of one deployment that define a job differently: the first stands, both report it'),
  },
  {
    name: 'rename-from-now',
    rule: 'P5, rule 42',
    breaks: 'A renamed job begins from now instead of where the old name stopped.',
    edits: [edit('policy/operate/define.ts', 'return goesOn ? mark : Math.max(mark, now)', 'return now')],
    caughtBy: rules(
      'a rename that was interrupted between its two writes is finished by the next process, and no instant is lost',
    ),
  },
  {
    name: 'old-release-brings-back',
    rule: 'P8, rule 42',
    breaks: 'A release that is not the newest brings a dropped job back once the release that dropped it has left.',
    edits: [edit('policy/operate/define.ts', 'newest.number > rankOf(own)', 'newest.number < rankOf(undefined)')],
    caughtBy: rules(
      'an old server that reboots brings back no job, though the release that dropped it has left',
      'a release that crashed early brings back no job before it has been up for the hold-down',
    ),
  },
  {
    name: 'old-release-renames',
    rule: 'P8, rule 42',
    breaks: 'An older release renames a job again that the newest one has renamed back.',
    edits: [
      edit('engine/deploy/plan-renames.ts', '  if (isBlocked(wish, own, found)) {\n', '  if (false) {\n'),
      edit('engine/deploy/plan-renames.ts', '[id, ...wanted.map((state) => state.id)].some(', '[id].some('),
      edit('engine/deploy/declare-schedules.ts', 'retiredOf(record), record.announced, ', 'retiredOf(record), '),
    ],
    caughtBy: renames('a rename that a later release takes back: the older processes do not retire the job again'),
  },
  {
    name: 'other-names-ignored',
    rule: 'P1, rule 42',
    breaks: 'An older process brings its name of a job back while a newer release has the job under another name.',
    edits: [
      edit('policy/operate/define.ts', "  if (heir !== null) return retired(id, app, heir, 'renamed')\n", ''),
      edit(
        'policy/operate/define.ts',
        '  if (state.retiredAt !== null && isHeld(wanted)) return held(id, wanted.holder!.id)\n',
        '',
      ),
    ],
    caughtBy: renames('without ids, a process from before two renames does not bring the first name back'),
  },
  {
    name: 'old-name-runs-other-job',
    rule: 'rule 42',
    breaks: 'A new job that has the old name of a renamed one is run by the handler of the renamed one.',
    edits: [
      edit('engine/claim/buckets.ts', 'core.parts.jobs.has(definition.job) || retiredAt !== null', 'true'),
      edit('policy/deploy/job-names.ts', 'joined.has(name)).length < 2', 'joined.has(name)).length < 3'),
      edit(
        'engine/deploy/other-names.ts',
        'state === undefined ? theirs === undefined || nextName(theirs) === id : state.retiredAt !== null',
        'true',
      ),
    ],
    caughtBy: renames(
      'a new job that has the old name of a renamed one runs its own handler, also beside older processes',
    ),
  },
  {
    name: 'wait-forgotten',
    rule: 'rule 42',
    breaks: 'A wait that ends while a process writes to the store goes unnoticed for an hour.',
    edits: [
      edit(
        'engine/deploy/watch-deployments.ts',
        '    this.#report(record)\n',
        '    this.#report(record)\n    this.#actedOn = this.#sums()\n',
      ),
    ],
    caughtBy: rules(
      'after a release that crashed, the release before defines again, also if another one left at the same time',
    ),
  },
  {
    name: 'rename-freezes',
    rule: 'P5, rule 42',
    breaks: 'What waits under the old name of a renamed job never runs.',
    edits: [
      edit(
        'policy/plan/wake.ts',
        'return retiredAt !== null && retirements?.at(-1)?.renamedTo === undefined',
        'return retiredAt !== null && retirements !== null',
      ),
    ],
    caughtBy: renames(
      'fires that wait under the old name still run under it, with their attempts and idempotency keys',
    ),
  },
  {
    name: 'frozen-fire-not-adopted',
    rule: 'rule 42',
    breaks: 'A fire that was frozen when its name left the code does not run under the new name.',
    edits: [
      edit(
        'engine/deploy/plan-renames.ts',
        'if (!isRenamedTo(holder, wish.id)) plan.adopted.set(holder.id, wish.id)',
        '',
      ),
    ],
    caughtBy: oldNames('a fire that was frozen when its name left the code runs under the new name that comes later'),
  },
  {
    name: 'removed-old-name-forgotten',
    rule: 'rule 42',
    breaks: 'Schedules made for the old name of a job stop when that name is removed.',
    edits: [
      edit(
        'engine/deploy/other-names.ts',
        'state === undefined ? theirs === undefined || nextName(theirs) === id :',
        'state !== undefined &&',
      ),
    ],
    caughtBy: oldNames('schedules of the old name go on after an operator has removed that name'),
  },
  {
    name: 'old-names-outlive-the-job',
    rule: 'P1',
    breaks: 'A job that was removed begins again where its old name stopped, and repeats what it has run since.',
    edits: [
      edit(
        'client/remove-schedule.ts',
        'if (!isRefusal(decision)) await removeOldNames(parts, state, command, act)',
        '',
      ),
    ],
    caughtBy: oldNames('a name that comes back after its later names were removed runs nothing that those have run'),
  },
  {
    name: 'refused-removal-takes-old-names',
    rule: 'rule 42',
    breaks: 'A removal that is refused has removed the old names.',
    edits: [edit('client/remove-schedule.ts', 'if (!isRefusal(decision)) await', 'await')],
    caughtBy: oldNames('a removal that is refused leaves the old names of the job'),
  },
  {
    name: 'removal-not-judged-anew',
    rule: 'rule 42',
    breaks: 'An old process runs a job again that was dropped and removed.',
    edits: [edit('client/remove-schedule.ts', ', tidiedFor: null }', ' }')],
    caughtBy: oldNames(
      'a dropped job whose retired schedule was removed is not run by an old process that is still up',
    ),
  },
  {
    name: 'jobs-of-another-app-run-under-an-old-name',
    rule: 'rule 42',
    breaks: 'A schedule made for a job of another app runs here, because a job of this process had that name before.',
    edits: [
      edit(
        'engine/claim/buckets.ts',
        'return free.filter((job) => others.some((peer) => peer.jobs.includes(job)))',
        'return []',
      ),
    ],
    caughtBy: oldNames(
      'schedules made for a job of another app are run there, though the job here had that name before',
    ),
  },
  {
    name: 'refused-app-stops-old-name',
    rule: 'rule 42',
    breaks: 'Schedules made for the old name of a job stop because another app declares the name, and is refused.',
    edits: [edit('engine/deploy/other-names.ts', 'isFree: state === undefined', 'isFree: true')],
    caughtBy: oldNames('schedules of the old name go on beside another app that is refused that name'),
  },
  {
    name: 'instant-of-another-name-unread',
    rule: 'P1',
    breaks: 'A job that is to run once runs again under a new name.',
    edits: [
      edit(
        'engine/deploy/declare-schedules.ts',
        'new Set([read.id, ...otherNames, ...continuing])',
        '[read.id, ...continuing]',
      ),
    ],
    caughtBy: oldNames('the one instant of a job does not run again under a new name whose release comes back'),
  },
  {
    name: 'free-old-name-not-found-out',
    rule: 'rule 42',
    breaks: 'Schedules made for the old name of a job stay stopped when the app that had the name has it no more.',
    edits: [
      edit('engine/deploy/declare-schedules.ts', 'named.foreign.size > 0 || jobsElsewhere(core).length > 0', 'false'),
    ],
    caughtBy: oldNames('schedules of the old name come back when another app has had that name, and has it no more'),
  },
  {
    name: 'removal-follows-later-names',
    rule: 'rule 42',
    breaks: 'Removing an old name removes names that came after it.',
    edits: [edit('client/remove-schedule.ts', 'isRenamedTo(one, state.id) &&', 'one.retiredAt !== null &&')],
    caughtBy: oldNames('removing a name leaves those that came after it, also if the job has had it twice'),
  },
  {
    name: 'removal-takes-names-of-other-apps',
    rule: 'rule 42',
    breaks: 'Removing a job of one app removes the old name of a job of another app.',
    edits: [edit('client/remove-schedule.ts', ' && appOf(one) === appOf(state)', '')],
    caughtBy: oldNames(
      'a name that comes back after another app had its later name, which was removed, runs nothing again',
    ),
  },
  {
    name: 'removed-next-name-overlooked',
    rule: 'P1',
    breaks: 'A job whose last name was removed in another app repeats what ran under that name.',
    edits: [edit('engine/deploy/gone-on.ts', 'return items.length > 0', 'return false')],
    caughtBy: oldNames(
      'a name that comes back after another app had its later name, which was removed, runs nothing again',
    ),
  },
  {
    name: 'refusal-keeps-its-first-message',
    rule: 'rule 42',
    breaks: 'The record of an app names a schedule as the cause of a refusal that has another name by now.',
    edits: [edit('policy/deploy/deployment.ts', 'schedule, message].join', 'schedule].join')],
    caughtBy: record('a refusal is replaced when its message changes'),
  },
  {
    name: 'instant-again-after-removal',
    rule: 'P6',
    breaks:
      'The one instant of a renamed job runs again when an operator removes the job and its process declares it again.',
    edits: [edit('policy/operate/define.ts', 'if (mayHaveRun(wanted, context.now) && wanted', 'if (false && wanted')],
    caughtBy: oldNames('the one instant of a renamed job does not run again after an operator has removed the job'),
  },
  {
    name: 'absence-from-older-peers',
    rule: 'rule 42',
    breaks:
      'A release counts as gone from a list of peers that is older than its registration, so the hold-down is cut short.',
    edits: [
      edit(
        'engine/deploy/watch-deployments.ts',
        'return deployment.goneAt !== null || this.#core.fleet.listedAt >= foundAt',
        'return deployment.goneAt !== null || foundAt > 0',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy-returns.test.ts',
      names: [
        'a release that registered after the last heartbeat of a process has left only when a later heartbeat does not list it',
      ],
    },
  },
  {
    name: 'killed-call-blocks-rollback',
    rule: 'rule 42',
    breaks: 'A release whose last runDue call was killed counts as live for ever where no process is up for long.',
    edits: [
      edit('policy/deploy/deployment.ts', 'return expired && now - renewedAt >=', 'return false && now - renewedAt >='),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run-due.test.ts',
      names: ['a rollback takes effect although the last call of the newer release was killed'],
    },
  },
  {
    name: 'killed-call-keeps-its-id',
    rule: 'rule 42',
    breaks: 'A release that is deployed again with its id is refused for ever if its last runDue call was killed.',
    edits: [edit('engine/deploy/register-process.ts', '!hasVanished(core, peer, core.time.estimate())', 'true')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run-due.test.ts',
      names: ['a release that is deployed again with its id changes its jobs although its last call was killed'],
    },
  },
  {
    name: 'old-name-linked-to-two-jobs',
    rule: 'P1',
    breaks: 'Of two jobs that were the same name, the one of the newest release continues it, not the first one.',
    edits: [edit('policy/deploy/job-names.ts', 'declared.filter((link) => !ignored.has(link))', 'declared')],
    caughtBy: namedTwice('a rollback to the first release continues the job that continued bill, with ids'),
  },
  {
    name: 'old-name-continued-twice',
    rule: 'P1',
    breaks: 'A job continues an old name that another job has continued, and repeats what that one has run.',
    edits: [
      edit(
        'engine/deploy/other-names.ts',
        'return jobAfter(last, wish, states) === undefined ? last : undefined',
        'return last',
      ),
    ],
    caughtBy: namedTwice('a job that was a name from which the job went back begins from now, with ids'),
  },
  {
    name: 'left-name-goes-on',
    rule: 'P1',
    breaks: 'A name that comes back repeats what another job has run that continues the name after it.',
    edits: [edit('policy/operate/define.ts', 'retiredAt === null || wanted.isLeft === true', 'retiredAt === null')],
    caughtBy: namedTwice(
      'a second job that went back through two names repeats nothing when it is declared again, with ids',
    ),
  },
  {
    name: 'void-link-counts-again',
    rule: 'P5',
    breaks: 'A link that a deployment without an id made void counts again when the record drops its declarations.',
    edits: [
      edit('policy/deploy/deployment.ts', 'app.deployments.some(isForgotten) ? withoutVoidLinks(app) : app', 'app'),
    ],
    caughtBy: namedTwice('a new job that has the old name is renamed as any other, without ids'),
  },
  {
    name: 'killed-call-of-a-renamed-job-left',
    rule: 'P6',
    breaks: 'A fire whose runDue call was killed is not run again after its job was renamed.',
    edits: [
      edit('engine/fleet/recover-peers.ts', 'jobs.has(job) || core.deploys.renamedJobs.has(job)', 'jobs.has(job)'),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run-due.test.ts',
      names: ['the fire of a killed call runs again in a release that has renamed its job'],
    },
  },
  {
    name: 'renamed-back-by-the-clock',
    rule: 'P1',
    breaks:
      'A job that is renamed back after the clock of the store was set back runs again what it has run under the new name.',
    edits: [edit('policy/deploy/job-names.ts', '    turnOf(b) - turnOf(a) ||\n', '')],
    caughtBy: renamedBack(
      'a job that is renamed back after the clock was set back runs nothing again',
      'a job whose new name left the code after the clock was set back runs nothing again',
    ),
  },
  {
    name: 'turn-stands-still',
    rule: 'P1',
    breaks: 'A job that has had a name before gets it back without counting that.',
    edits: [
      edit(
        'policy/operate/define.ts',
        'turn: Math.max(stretch.turn ?? 0, turnAfter(holder))',
        'turn: stretch.turn ?? 0',
      ),
    ],
    caughtBy: renamedBack('a job that is renamed back and forth while the clock is set back runs nothing again'),
  },
  {
    name: 'begins-anew-behind-the-holder',
    rule: 'P1',
    breaks:
      'A name that takes over after the clock was set back begins from now, although the holder of the job went further.',
    edits: [
      edit('policy/operate/define.ts', 'return goesOn ? mark : Math.max(mark, now)', 'return goesOn ? mark : now'),
    ],
    caughtBy: renamedBack('a job whose new name left the code after the clock was set back runs nothing again'),
  },
  {
    name: 'late-rename-runs-again',
    rule: 'P1',
    breaks: 'What the old name has due when was comes one release late runs there, although the new name has run it.',
    edits: [
      edit(
        'engine/deploy/plan-renames.ts',
        'for (const { id } of besides) stops.set(id, { renamedTo, beside })',
        'for (const { id } of besides) stops.set(id, { renamedTo })',
      ),
    ],
    caughtBy: lateRenames('what the new name has run does not run under the old name, when was comes one release late'),
  },
  {
    name: 'late-rename-loses-the-gap',
    rule: 'P5',
    breaks: 'When was comes one release late, what came due before the new name was there is left to the new name.',
    edits: [
      edit('policy/deploy/late-rename.ts', 'dueAt >= createdAt && ', ''),
      edit('policy/deploy/retire.ts', 'planUpToNow(draft, beside.createdAt)', 'true'),
    ],
    caughtBy: lateRenames('what came due before the new name was there is caught up under the old name'),
  },
  {
    name: 'late-rename-leaves-no-record',
    rule: 'P5',
    breaks: 'When was comes one release late, what only the old name had due is on no record.',
    edits: [edit('policy/deploy/late-rename.ts', ' || series.next(at - 1) === at', ' || at > 0')],
    caughtBy: lateRenames('what only the old name had due since the new one is there is on record as missed'),
  },
  {
    name: 'late-rename-runs-what-waits',
    rule: 'P1',
    breaks: 'What waits under the old name when was comes one release late runs, although the new name has run it.',
    edits: [
      edit('policy/deploy/late-rename.ts', 'endOpen(draft, (fire) => isWaiting(fire) && mayBeThere(fire.dueAt))', ''),
    ],
    caughtBy: lateRenames('a fire that waits under the old name, and that the new name has run, does not run again'),
  },
  {
    name: 'late-rename-runs-what-a-pause-keeps',
    rule: 'P1',
    breaks: 'What waits in a pause under the old name when was comes late runs, although the new name has run it.',
    edits: [
      edit(
        'policy/deploy/retire.ts',
        'if (by.beside !== undefined)',
        'if (by.beside !== undefined && state.pause === null)',
      ),
    ],
    caughtBy: lateRenames(
      'a fire that waits in a pause under the old name, and that the new name has run, does not run again',
    ),
  },
  {
    name: 'late-rename-runs-what-waits-anew',
    rule: 'P1',
    breaks: 'What waits under the new name when was comes late runs, although the old name has run it.',
    edits: [
      edit('policy/deploy/late-rename.ts', '  endOpen(draft, isLeftTo(old))\n', ''),
      edit('policy/deploy/late-rename.ts', ' && !state.open.some(isLeftTo(old))', ''),
    ],
    caughtBy: lateRenames(
      'a fire that waits under the new name, and that the old name has run, does not run again when was comes late',
    ),
  },
  {
    name: 'late-rename-runs-what-is-claimed',
    rule: 'P1',
    breaks:
      'What waits under both names when was comes late runs under both, if the old one claims it before it is retired.',
    edits: [edit('policy/deploy/late-rename.ts', ' && !state.open.some(isLeftTo(old))', '')],
    caughtBy: continued(
      'an old name is not retired beside the active one while a fire waits there that the old one has claimed since',
    ),
  },
  {
    name: 'late-rename-ends-what-waits-twice',
    rule: 'P5',
    breaks: 'What waits under both names when was comes late ends under both.',
    edits: [edit('policy/deploy/late-rename.ts', ' && !waiting.has(fire.dueAt)', '')],
    caughtBy: lateRenames('a fire that waits under both names when was comes late runs under the new one'),
  },
  {
    name: 'late-rename-runs-again-after-a-rollback',
    rule: 'P1',
    breaks: 'When was comes late, the new name runs again what the old name has run since a rollback.',
    edits: [
      edit('policy/deploy/late-rename.ts', 'const plannedTo = Math.max(mark, to)', 'const plannedTo = mark'),
      edit('policy/deploy/late-rename.ts', 'hasMore = missRetired(draft, to + 1, known)', 'hasMore = to < 0'),
      edit('policy/deploy/late-rename.ts', 'markOf(state) >= markOf(old) && ', ''),
    ],
    caughtBy: lateRenames(
      'what the old name ran after a rollback does not run again when was comes late, and what no name ran does',
    ),
  },
  {
    name: 'late-rename-at-an-old-turn',
    rule: 'P1',
    breaks: 'When was comes late, the old name may be retired beside one that counts as older than it.',
    edits: [edit('policy/deploy/late-rename.ts', ' && turnOf(state) > turnOf(old)', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/continue-job.test.ts',
      names: [
        'the active name holds the job after one that is retired beside it, though they have changed places before',
      ],
    },
  },
  {
    name: 'late-rename-trusts-a-changed-rule',
    rule: 'P5',
    breaks: 'When was comes late, due times are on no record if the new name had another rule then, or has a limit.',
    edits: [edit('policy/deploy/late-rename.ts', 'revision === 1 && definition.limit === null && ', '')],
    caughtBy: lateRenames(
      'a due time is on record though the new name has used up its limit, or had another timing, when was comes late',
    ),
  },
  {
    name: 'lost-new-name-stops-the-job',
    rule: 'rule 42',
    breaks: 'A job that loses its new name to another app in the middle of the rename stops.',
    edits: [edit('engine/deploy/plan-renames.ts', 'if (isDeciding) plan.lost.push(', 'if (false) plan.lost.push(')],
    caughtBy: taken(
      'a job that loses its new name to another app in the middle of the rename goes on under the old one, until that is free',
    ),
  },
  {
    name: 'lost-new-name-keeps-out-the-old-one',
    rule: 'rule 42',
    breaks: 'The old name of a job is refused because another app has a job of the name that it was to get.',
    edits: [edit('engine/deploy/other-names.ts', ' && !isOvertaken(last, next, named)', '')],
    caughtBy: taken(
      'a job that was to get a name which another app has by now goes on when a release declares the old name',
    ),
  },
  {
    name: 'forgotten-name-runs-beside',
    rule: 'P8',
    breaks: 'A schedule that was retired ten times loses the name that it continues, which then runs beside it.',
    edits: [edit('policy/deploy/continue-job.ts', ' || isLastOfName(one, index)', '')],
    caughtBy: taken(
      'an old name stays retired while another app has the job under the new one, however often that was retired',
    ),
  },
  {
    name: 'rename-ignored-silently',
    rule: 'P8',
    breaks: 'No process reports that was is ignored because the new name ran before.',
    edits: [edit('engine/deploy/report-refusals.ts', 'if (old === undefined) continue', 'if (old !== null) continue')],
    caughtBy: lateRenames('a release that adds was after the old name was retired reports that it is ignored, once'),
  },
  {
    name: 'rename-reported-for-ever',
    rule: 'P8',
    breaks: 'A rename that has been made is reported as ignored when its release starts again.',
    edits: [
      edit(
        'engine/deploy/other-names.ts',
        'namesFrom(old, states).includes(own) || namesBefore(own).includes(old.id)',
        'false',
      ),
    ],
    caughtBy: lateRenames('was that has done its work is not reported, however often the release starts'),
  },
]
