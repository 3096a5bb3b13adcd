import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const simulation = (...names: string[]): CaughtBy => ({ judge: 'simulation', names })
const moves = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-moves.test.ts',
  names,
})
const taken = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-taken.test.ts',
  names,
})

const thirdName = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-third-name.test.ts',
  names,
})
const between = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-between-apps.test.ts',
  names,
})

/** Mistakes in what apps that share a store do to each other. Several of them are caught by unit tests as well, under other names. */
export const APP_MUTANTS: readonly Mutant[] = [
  {
    name: 'holder-by-its-last-change',
    rule: 'rule 42, P1',
    breaks:
      'Of two names that were retired within one millisecond, the one that another app had dropped holds the job.',
    edits: [edit('policy/deploy/job-names.ts', '    markOf(b) - markOf(a) ||\n', '')],
    caughtBy: moves('a rename to a name that another app has dropped runs nothing twice'),
  },
  {
    name: 'dropped-name-left-behind',
    rule: 'rule 42, P1',
    breaks:
      'A job that moves to another app under a new name, while its old app goes on without it, begins anew there.',
    edits: [
      edit(
        'engine/deploy/other-names.ts',
        'if (state === undefined) return undefined',
        'if (state === undefined || state.retiredAt !== null) return undefined',
      ),
    ],
    caughtBy: moves(
      'a job that moves to another app under a new name, while its old app goes on without it, comes back without a double run, with ids',
      'a pause goes with a job that moves to another app under a new name, with ids',
    ),
  },
  {
    name: 'fires-of-other-apps-claimed',
    rule: 'rule 42',
    breaks: 'A process claims and runs fires of a schedule that belongs to another app.',
    edits: [
      edit('engine/claim/buckets.ts', 'if (source.app !== core.settings.app) return false', ''),
      edit('engine/claim/buckets.ts', '.filter((job) => !elsewhere.has(job))', ''),
    ],
    caughtBy: simulation('S15'),
  },
  {
    name: 'refused-declaration-not-retried',
    rule: 'rule 42',
    breaks: 'A process that was refused a name of another app does not try again, and the job stops for good.',
    edits: [edit('engine/deploy/declare-schedules.ts', "'SCHEDULE_BUSY', NAME_TAKEN]", "'SCHEDULE_BUSY']")],
    caughtBy: simulation('L7'),
  },
  {
    name: 'name-of-a-live-app-yielded',
    rule: 'rule 42',
    breaks: 'The app that declares a name last takes it, although a live process of another app declares it.',
    edits: [
      edit('policy/deploy/yielding.ts', 'return isGone || (retiredAt !== null && !isOldName(state))', 'return true'),
    ],
    caughtBy: simulation('S15'),
  },
  {
    name: 'name-yielded-before-the-hold-down',
    rule: 'rule 42',
    breaks: 'An app whose processes are away for a moment loses its names to another app.',
    edits: [
      edit(
        'engine/deploy/watch-deployments.ts',
        'return this.#heldFor(this.#absences, this.#core.settings.holdDownMs, true)',
        'return this.#absences.heldFor(0, true)',
      ),
    ],
    caughtBy: simulation('S15'),
  },
  {
    name: 'names-of-a-gone-app-kept',
    rule: 'rule 42',
    breaks: 'A job stops for good when its app has left, although a process of another app declares it.',
    edits: [edit('policy/deploy/yielding.ts', 'return isGone || (', 'return (')],
    caughtBy: {
      judge: 'tests',
      file: 'verification/simulation/deploys.test.ts',
      names: ['an app that is gone for good keeps every promise'],
    },
  },
  {
    name: 'name-taken-without-the-owners-record',
    rule: 'rule 42',
    breaks: 'An app that returns while another one takes its name does not learn of it, and its job stops for good.',
    edits: [
      edit('engine/deploy/take-names.ts', 'free.keys()], decide, announced)', 'free.keys()], decide, own)'),
      edit('engine/deploy/take-names.ts', 'if (!(await this.#writes.save(announced))) return true', ''),
    ],
    caughtBy: taken('an app that comes back while another one is taking its name either keeps the name or is refused'),
  },
  {
    name: 'returned-app-overlooked',
    rule: 'rule 42',
    breaks: 'A process whose last heartbeat is old takes the names of an app that has come back since.',
    edits: [edit('engine/deploy/take-names.ts', 'instances: all.filter(isThere),', 'instances: [],')],
    caughtBy: taken(
      'an app that comes back just before the end of the hold-down keeps its names, though its rival could not look',
    ),
  },
  {
    name: 'renamed-name-yielded',
    rule: 'rule 42',
    breaks: 'Another app takes the old name of a renamed job, and its code runs what waits under it.',
    edits: [edit('policy/deploy/yielding.ts', ' && !isOldName(state))', ')')],
    caughtBy: taken('the old name of a renamed job stays with its app, and so does what waits under it'),
  },
  {
    name: 'replaced-release-takes-names',
    rule: 'P8, rule 42',
    breaks: 'An old release that comes back takes a name that its newest release has dropped.',
    edits: [
      edit(
        'policy/operate/define.ts',
        'return newest === null ? null : superseded(id, app.name, newest.id)',
        'return null',
      ),
    ],
    caughtBy: taken(
      'an old release that comes back takes no name of another app that its newest release does not declare',
    ),
  },
  {
    name: 'functions-taken-for-gone',
    rule: 'rule 42',
    breaks: 'An app whose processes only call runDue loses its names between two calls.',
    edits: [edit('engine/deploy/take-names.ts', 'isGone: isAbsent && !mayReturn(ended, now),', 'isGone: isAbsent,')],
    caughtBy: taken(
      'functions that are called every few minutes keep their names, though a live process of another app declares them',
    ),
  },
  {
    name: 'retry-of-another-app-unannounced',
    rule: 'rule 42',
    breaks: 'A retry of a schedule that has passed to another app waits until that app looks by itself.',
    edits: [edit('engine/run/settle.ts', 'if (leavesToPeers(core, decision)) options.wake = true', '')],
    caughtBy: taken('a retry that is due after its schedule has passed to another app starts there in time'),
  },
  {
    name: 'killed-functions-keep-names',
    rule: 'rule 42',
    breaks: 'An app whose last runDue call was killed keeps its names for ever where no process is up for long.',
    edits: [
      edit('engine/deploy/take-names.ts', 'ofApp(peer, owner) && !hasVanished(core, peer, now)', 'ofApp(peer, owner)'),
    ],
    caughtBy: taken('functions take a name of an app whose last process was killed, a day after it'),
  },
  {
    name: 'silent-functions-taken-for-gone',
    rule: 'rule 42',
    breaks: 'An app loses its names as soon as the lease of its last process has expired.',
    edits: [edit('policy/deploy/deployment.ts', 'LONG_GONE_MS : DAY_MS)', 'LONG_GONE_MS : 0)')],
    caughtBy: taken('functions take a name of an app whose last process was killed, a day after it'),
  },
  {
    name: 'own-job-taken-for-foreign',
    rule: 'rule 42',
    breaks: 'Schedules made at run time stop when their job is refused under a new name.',
    edits: [
      edit(
        'engine/deploy/declaration-pass.ts',
        "state.source.kind === 'code' && !isOf(state, this.#core.settings.app)",
        "state.source.kind === 'code'",
      ),
    ],
    caughtBy: taken('a new name that returns waits while another app has the old name'),
  },
  {
    name: 'silent-peer-taken-for-gone',
    rule: 'rule 42',
    breaks: 'After an outage, or when the clock of the store was set, a process counts live peers as dead.',
    edits: [edit('engine/deploy/watch-deployments.ts', 'return transient && isLongSilent', 'return isLongSilent')],
    caughtBy: taken('no process counts a live peer as dead because the store was down, or its clock was set'),
  },
  {
    name: 'lost-schedule-not-declared-again',
    rule: 'rule 42',
    breaks: 'A schedule that was removed although code declares it is not declared again.',
    edits: [
      edit(
        'engine/deploy/declare-schedules.ts',
        'if (under === this.#declaredUnder && (await this.#isAsDeclared()))',
        'if (under === this.#declaredUnder)',
      ),
    ],
    caughtBy: taken('a schedule that disappears from the store is declared again'),
  },
  {
    name: 'moved-job-created-beside-itself',
    rule: 'P1, rule 42',
    breaks: 'A job runs under its new name in one app and under its old name in another.',
    edits: [edit('engine/deploy/declaration-pass.ts', 'if (elsewhere !== undefined) {', 'if (elsewhere === null) {')],
    caughtBy: moves(
      'a release that renames its app and a job at the same time runs nothing twice, and continues when the old app has left',
    ),
  },
  {
    name: 'rename-to-a-yielded-name-stuck',
    rule: 'rule 42',
    breaks: 'A job is never renamed to a name that another app yields.',
    edits: [
      edit(
        'policy/deploy/yielding.ts',
        'const draft = begin(found, context)',
        'if (holder?.retiredAt === null) return null\n  const draft = begin(found, context)',
      ),
    ],
    caughtBy: moves('a job is renamed to a name of an app that has left, with no instant lost or run twice'),
  },
  {
    name: 'removal-unannounced',
    rule: 'rule 42',
    breaks:
      'A schedule that is removed by force although code declares it goes to another app that waits for its name.',
    edits: [edit('client/remove-schedule.ts', 'if (app !== null) await announceRemoval(parts, app, id)', '')],
    caughtBy: moves(
      'a schedule that is removed by force is declared again by its own app, not by another that waits for its name',
    ),
  },
  {
    name: 'announcement-heard-by-one',
    rule: 'P8, rule 42',
    breaks: 'Of the processes that declare a removed schedule only the first that objects declares it again.',
    edits: [edit('engine/deploy/declare-schedules.ts', 'retiredOf(record), record.announced, ', 'retiredOf(record), ')],
    caughtBy: moves(
      'after a forced removal the newest release defines the schedule, not an older one that is still live',
    ),
  },
  {
    name: 'schedules-of-an-old-name-left-behind',
    rule: 'P1, rule 42',
    breaks: 'Schedules made for the old name of a job stop when another app takes the job.',
    edits: [
      edit('engine/deploy/other-names.ts', 'theirs === undefined || nextName(theirs) === id', 'theirs === undefined'),
    ],
    caughtBy: moves('schedules made for the old name of a job go on in an app that takes the job from a live one'),
  },
  {
    name: 'was-checked-beside-the-own-job',
    rule: 'rule 42',
    breaks: 'A job is refused because another app has an old name of it.',
    edits: [
      edit(
        'engine/deploy/other-names.ts',
        'if (last !== undefined) {',
        'if (last !== undefined && last.retiredAt !== null) {',
      ),
    ],
    caughtBy: between(
      'a release that moved a job to another app and renamed it is rolled back: the old name starts from scratch when the other app has left',
    ),
  },
  {
    name: 'lost-job-comes-back-beside-itself',
    rule: 'P1, rule 42',
    breaks: 'A job that another app has taken under its last name comes back under another one and runs beside it.',
    edits: [edit('engine/deploy/other-names.ts', 'return isJob ?', 'return isJob && next === undefined ?')],
    caughtBy: thirdName(
      'a third name, was receipt, repeats nothing while another app has the second one as a new job',
      'the first of three names that comes back repeats nothing while another app has the third one',
    ),
  },
  {
    name: 'declared-name-not-counted',
    rule: 'P1, rule 42',
    breaks: 'The second of three names comes back and runs beside the third one, which another app has.',
    edits: [
      edit('engine/deploy/other-names.ts', 'const all = [id, ...otherNames].flatMap', 'const all = otherNames.flatMap'),
    ],
    caughtBy: thirdName(
      'the second of three names that comes back repeats nothing while another app has the third one, with ids',
    ),
  },
  {
    name: 'old-name-taken-for-the-job',
    rule: 'P1, rule 42',
    breaks: 'A job that was an old name of a job of another app takes that name, and runs beside the job.',
    edits: [edit('engine/deploy/other-names.ts', 'isWanted: false', 'isWanted: true')],
    caughtBy: between('a job that was the old name of a job of another app is refused, with the name that it has now'),
  },
  {
    name: 'unknown-names-not-read',
    rule: 'rule 42',
    breaks: 'A job that was an old name of a job of another app does not learn its new name.',
    edits: [edit('engine/deploy/load-names.ts', 'hops <= MAX_HOPS', 'hops < 1')],
    caughtBy: moves(
      'a new name that is refused stays refused when the app that has the job renames it, until was names its current name',
    ),
  },
  {
    name: 'half-done-rename-elsewhere-overlooked',
    rule: 'P1, rule 42',
    breaks:
      'A job stops for good when its app leaves in the middle of a rename, although another app declares the old name.',
    edits: [
      edit(
        'engine/deploy/other-names.ts',
        'next === undefined || !(foreign.has(next) || states.has(next))',
        'next === undefined',
      ),
    ],
    caughtBy: moves(
      'a name is refused while another app has stopped half-way in a rename of the job, and continues when that app has left',
    ),
  },
  {
    name: 'old-name-taken-with-its-job',
    rule: 'P5, rule 42',
    breaks: 'What waits under the old name of a job runs in the app that takes the name.',
    edits: [edit('policy/deploy/yielding.ts', 'isOldName(state) && !isRenamedTo(state, id)', 'false as boolean')],
    caughtBy: between(
      'fires that wait under the old name of an app that has left end as retired when another app takes the name, and the history stays',
    ),
  },
  {
    name: 'half-done-rename-not-undone',
    rule: 'P1, rule 42',
    breaks: 'Instants are on no record after an app died in the middle of a rename and another app took the old name.',
    edits: [edit('engine/deploy/take-names.ts', 'half.has(id) ? undoRename(state) : state', 'state')],
    caughtBy: between(
      'a rename that stopped half-way in another app is undone: the first app plans what was due in between',
    ),
  },
  {
    name: 'half-done-rename-to-an-earlier-name-not-undone',
    rule: 'P1, rule 42',
    breaks: 'The same, if the job had the new name in an earlier release.',
    edits: [edit('engine/deploy/gone-on.ts', 'return holderOf([state, next]) === state', 'return false')],
    caughtBy: between('a rename that stopped half-way is undone also if the other app had the new name before'),
  },
  {
    name: 'finished-rename-undone',
    rule: 'P1, rule 42',
    breaks: 'An old name repeats instants that the job has run under a name that was removed since.',
    edits: [edit('engine/deploy/gone-on.ts', 'return !(await hasGoneOn(core, state, schedules))', 'return true')],
    caughtBy: between('a job that went on in a third app, and was removed there, is not repeated under the old name'),
  },
  {
    name: 'half-done-rename-not-finished',
    rule: 'rule 42',
    breaks: 'A job starts from scratch when another app finishes its rename.',
    edits: [edit('policy/deploy/yielding.ts', 'isOldName(state) && !isRenamedTo(state, id)', 'isOldName(state)')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy-old-names.test.ts',
      names: ['a rename that stopped half-way is finished by another app that has the job from then on'],
    },
  },
  {
    name: 'rename-past-what-is-due',
    rule: 'P5, rule 42',
    breaks: 'A rename to a name of an app that has left loses the due times that the old name had not planned.',
    edits: [
      edit('engine/deploy/plan-renames.ts', 'markOf(own) > markOf(first) && isBehind(first, context.now)', 'false'),
    ],
    caughtBy: moves(
      'a paused job is renamed to a name of an app that has left when it has planned what the pause held back',
    ),
  },
  {
    name: 'half-done-rename-never-dropped',
    rule: 'rule 42',
    breaks: 'An app that died in the middle of a rename, and no longer has the job, keeps its name for ever.',
    edits: [
      edit(
        'engine/deploy/retire-schedules.ts',
        'retire(state, wish, context) ?? dropOldName(state, wish, context)',
        'retire(state, wish, context)',
      ),
    ],
    caughtBy: between(
      'a process that dies while it takes a job leaves it to the first app, once its own has retired it',
    ),
  },
  {
    name: 'taken-name-never-retired',
    rule: 'rule 42',
    breaks: 'An app that took a name for a job that it no longer has keeps the name for a day.',
    edits: [
      edit(
        'policy/deploy/retirement.ts',
        'return own.length > 0 ? own : declaring(otherNamesOf(app, schedule))',
        'return own',
      ),
    ],
    caughtBy: between(
      'a process that dies while it takes a job leaves it to the first app, once its own has retired it',
    ),
  },
  {
    name: 'continued-name-left-free',
    rule: 'P1, rule 42',
    breaks: 'A third app takes the name that a job had, and runs it beside the job.',
    edits: [edit('engine/deploy/take-names.ts', 'continuedBy(free), own', 'new Map(), own')],
    caughtBy: between('a name that this app continues under one it has taken is not free for a third app'),
  },
  {
    name: 'older-name-taken-for-the-next',
    rule: 'rule 42',
    breaks: 'A job that went back to its old name is taken for one that goes on under the new name.',
    edits: [edit('policy/deploy/continue-job.ts', 'to !== null && to >= since', 'to !== null && since >= 0')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/continue-job.test.ts',
      names: ['a name has continued the job of an old one only if it took over after the last rename'],
    },
  },
  {
    name: 'half-done-rename-not-marked-anew',
    rule: 'P1, rule 42',
    breaks:
      'A job whose rename stopped half-way and that got a third name comes back under the first one and runs beside itself.',
    edits: [
      edit(
        'engine/deploy/plan-renames.ts',
        '!isRenamedTo(holder, wish.id)',
        'holder.retirements?.at(-1)?.renamedTo === undefined',
      ),
    ],
    caughtBy: between(
      'a job whose rename stopped half-way, and that got a third name, is not run under the first one beside that',
    ),
  },
  {
    name: 'void-link-blocks-a-taken-name',
    rule: 'rule 42',
    breaks: 'A job is refused for ever because its app had declared the name of another app as a job of its own.',
    edits: [
      edit(
        'engine/deploy/other-names.ts',
        'isWanted: true, refusal: refuseWas',
        'isWanted: wish.otherNames.includes(state.id), refusal: refuseWas',
      ),
    ],
    caughtBy: between(
      'a name that another app has dropped is taken, also if the releases of this app have declared it as another job',
    ),
  },
  {
    name: 'new-name-taken-before-was-is-checked',
    rule: 'P1, rule 42',
    breaks: 'A job takes a free name of another app, though its old name belongs to a live app.',
    edits: [
      edit(
        'engine/deploy/declaration-pass.ts',
        'if (elsewhere !== undefined) {',
        'if (elsewhere !== undefined && state === null) {',
      ),
    ],
    caughtBy: between('was is checked also if the new name is a free schedule of another app'),
  },
]
