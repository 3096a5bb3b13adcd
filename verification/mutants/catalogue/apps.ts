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
const back = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-back.test.ts',
  names,
})

/** Mistakes in what apps that share a store do to each other. Several of them are caught by unit tests as well, under other names. */
export const APP_MUTANTS: readonly Mutant[] = [
  {
    name: 'holder-by-its-last-change',
    rule: 'rule 42, P1',
    breaks:
      'Of two names that were retired within one millisecond, the one that another app had dropped holds the job.',
    edits: [edit('policy/deploy/job-names.ts', 'markOf(b) - markOf(a) || ', '')],
    caughtBy: moves('a rename to a name that another app has dropped runs nothing twice'),
  },
  {
    name: 'dropped-name-left-behind',
    rule: 'rule 42, P1',
    breaks:
      'A job that moves to another app under a new name, while its old app goes on without it, begins anew there.',
    edits: [edit('engine/deploy/other-names.ts', ' ?? ends.find((end) => !isOldName(end))', '')],
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
    edits: [edit('policy/deploy/yielding.ts', 'return isGone || retiredAt !== null', 'return true')],
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
    breaks: 'A job stops for good when its app is gone, although a process of another app declares it.',
    edits: [edit('policy/deploy/yielding.ts', 'return isGone || retiredAt !== null', 'return retiredAt !== null')],
    caughtBy: {
      judge: 'tests',
      file: 'verification/simulation/deploys.test.ts',
      names: ['an app that is gone for good keeps every promise'],
    },
  },
  {
    name: 'name-taken-without-the-owners-record',
    rule: 'rule 42',
    breaks: 'An app that comes back while another one takes its name does not hear of it, and its job stops for good.',
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
    edits: [edit('policy/deploy/yielding.ts', 'if (isOldName(state)) {', 'if (false as boolean) {')],
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
    name: 'new-name-beside-the-taker-of-the-old',
    rule: 'P6',
    breaks: 'A new name comes back and repeats what another app has run under the old name.',
    edits: [
      edit(
        'engine/deploy/declaration-pass.ts',
        'state === null || (this.#isOwn(state) && isOldName(state))',
        'state === null',
      ),
      edit('engine/deploy/plan-renames.ts', 'own === null || isOldName(own)', 'own === null'),
    ],
    caughtBy: taken('a new name that comes back stands aside while another app has the old name'),
  },
  {
    name: 'old-name-back-behind-another-app',
    rule: 'P6',
    breaks: 'An old name comes back and repeats what ran under the new one, which another app has given up.',
    edits: [edit('engine/deploy/other-names.ts', 'end === last ?', 'end === last || end.retiredAt !== null ?')],
    caughtBy: taken(
      'an old name that comes back repeats nothing that ran under the new one, when another app gives that up',
    ),
  },
  {
    name: 'own-job-taken-for-foreign',
    rule: 'rule 42',
    breaks: 'Schedules made at run time stop when their job is refused under a new name.',
    edits: [
      edit(
        'engine/deploy/declaration-pass.ts',
        "state?.source.kind === 'code' && !this.#isOwn(state)",
        "state?.source.kind === 'code'",
      ),
    ],
    caughtBy: taken('a new name that comes back stands aside while another app has the old name'),
  },
  {
    name: 'silent-peer-taken-for-gone',
    rule: 'rule 42',
    breaks: 'After an outage, or when the clock of the store was set, a process counts live peers as gone.',
    edits: [edit('engine/deploy/watch-deployments.ts', 'return transient && isLongSilent', 'return isLongSilent')],
    caughtBy: taken('no process counts a live peer as gone because the store was away, or its clock was set'),
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
    edits: [edit('engine/deploy/declaration-pass.ts', 'before === undefined ? define', 'true ? define')],
    caughtBy: moves(
      'a release that renames its app and a job at the same time runs nothing twice, and goes on when the old app is gone',
    ),
  },
  {
    name: 'rename-to-a-yielded-name-stuck',
    rule: 'rule 42',
    breaks: 'A job is never renamed to a name that another app yields.',
    edits: [
      edit(
        'policy/deploy/yielding.ts',
        'if (isDeclared && isHeld) {',
        'if (isDeclared && isHeld) return null\n  if (isDeclared && isHeld) {',
      ),
    ],
    caughtBy: moves('a job is renamed to a name of an app that is gone, with no instant lost or run twice'),
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
    name: 'old-names-left-behind',
    rule: 'P1, rule 42',
    breaks: 'A job that was renamed forgets its past when another app takes it.',
    edits: [edit('policy/deploy/yielding.ts', ": next === 'taker' && !isDeclared", ': false')],
    caughtBy: moves('old names of a renamed job go with it to an app that takes it from a live one'),
  },
  {
    name: 'second-rename-refused',
    rule: 'rule 42',
    breaks: 'A job is stopped by a second rename because another app has its first name.',
    edits: [
      edit(
        'engine/deploy/other-names.ts',
        'if (last !== undefined) {',
        'if (last !== undefined && last.id === wish.id) {',
      ),
    ],
    caughtBy: moves('a job is renamed a second time though another app has its first name by now'),
  },
  {
    name: 'third-name-continues-the-first',
    rule: 'P1, rule 42',
    breaks: 'A third name of a job repeats what another app has run under the second one since.',
    edits: [edit('engine/deploy/other-names.ts', 'return end === last ? undefined : end', 'return undefined')],
    caughtBy: thirdName(
      'a third name, was receipt, repeats nothing while another app has the second one as a new job',
      'the first of three names that comes back repeats nothing while another app has the third one',
    ),
  },
  {
    name: 'declared-name-not-counted',
    rule: 'P1, rule 42',
    breaks: 'The second of three names comes back and runs beside the third one, which another app has.',
    edits: [edit('engine/deploy/other-names.ts', '[wish.id, ...wish.otherNames]', 'wish.otherNames')],
    caughtBy: thirdName(
      'the second of three names that comes back repeats nothing while another app has the third one, with ids',
    ),
  },
  {
    name: 'third-name-elsewhere-overlooked',
    rule: 'P1, rule 42',
    breaks: 'A job that another app has renamed to a third name runs here under the second one as well.',
    edits: [
      edit('engine/deploy/other-names.ts', '.map((state) => lastName(state, foreign))', ''),
      edit('engine/deploy/other-names.ts', 'end.retiredAt === null || isBetween(end)', 'end.retiredAt === null'),
    ],
    caughtBy: moves('a new name that is refused stays refused when the app that has the job renames it to a third one'),
  },
  {
    name: 'unknown-names-not-read',
    rule: 'rule 42',
    breaks: 'A job that another app has renamed and dropped stays refused under its other name.',
    edits: [edit('engine/deploy/load-names.ts', 'hops <= MAX_HOPS', 'hops < 1')],
    caughtBy: moves('a new name that is refused stays refused when the app that has the job renames it to a third one'),
  },
  {
    name: 'rename-elsewhere-overlooked',
    rule: 'P1, rule 42',
    breaks: 'A job that another app is renaming at the moment is declared here as a new one.',
    edits: [edit('engine/deploy/other-names.ts', 'end.retiredAt === null || isBetween(end)', 'end.retiredAt === null')],
    caughtBy: moves(
      'a name is refused while another app has stopped half-way in a rename of the job, and goes on when that app is gone',
    ),
  },
  {
    name: 'declared-name-wanted-for-another-job',
    rule: 'rule 42',
    breaks:
      'A job never gets its name from an app that is gone, because a second job of its process had an old name of it.',
    edits: [edit('engine/deploy/declaration-pass.ts', ' && !wishes.has(before.id)', '')],
    caughtBy: moves(
      'a job whose old name another app had renamed to the name of a second job here begins anew beside that',
    ),
  },
  {
    name: 'renamed-job-of-a-gone-app-kept',
    rule: 'rule 42',
    breaks: 'A job that another app took over and renamed never goes back to its first app.',
    edits: [edit('engine/deploy/take-names.ts', 'return new Map([...later, ...wanted])', 'return wanted')],
    caughtBy: back(
      'a release that moved a job to another app and renamed it is rolled back: no instant is lost or run twice',
    ),
  },
  {
    name: 'names-of-another-app-not-linked',
    rule: 'P5, rule 42',
    breaks: 'A job that goes back to its first app begins anew there, and its other name is left without a process.',
    edits: [edit('engine/deploy/take-names.ts', '...found.linked,', '...record,')],
    caughtBy: back(
      'a release that moved a job to another app and renamed it is rolled back: no instant is lost or run twice',
      'a job that goes back to its first app is still paused, and then plans what the pause held back',
    ),
  },
  {
    name: 'waiting-fires-of-a-taken-old-name-ended',
    rule: 'P5, rule 42',
    breaks: 'What waits under an old name is cancelled when the job goes back to its first app.',
    edits: [edit('policy/deploy/yielding.ts', 'state.id === id && !isOldName(state)', 'state.id === id')],
    caughtBy: back('what waits under the names of a job goes back with it to its first app, and runs there'),
  },
  {
    name: 'half-done-rename-of-a-gone-app-kept',
    rule: 'rule 42',
    breaks: 'A job stops for good when its app is gone in the middle of a rename, although another app declares it.',
    edits: [edit('policy/deploy/yielding.ts', "next === 'none' ? isGone :", '')],
    caughtBy: moves(
      'a name is refused while another app has stopped half-way in a rename of the job, and goes on when that app is gone',
    ),
  },
  {
    name: 'rename-past-what-is-due',
    rule: 'P5, rule 42',
    breaks: 'A rename to a name of a gone app loses what the old name had not planned.',
    edits: [
      edit('engine/deploy/plan-renames.ts', 'markOf(own) > markOf(first) && isBehind(first, context.now)', 'false'),
    ],
    caughtBy: moves('a paused job is renamed to a name of a gone app when it has planned what the pause held back'),
  },
]
