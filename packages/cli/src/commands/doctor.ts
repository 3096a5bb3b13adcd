import type { Args } from '../args.ts'
import type { Facts, FleetFacts, Trouble } from '../doctor/facts.ts'
import type { Finding, Level } from '../doctor/finding.ts'
import { gatherFleet } from '../doctor/gather-fleet.ts'
import { gatherMachine } from '../doctor/gather-machine.ts'
import { gatherStore, troubleOf } from '../doctor/gather-store.ts'
import { judge } from '../doctor/judge.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { findStoreOrDefault, STORE_FLAGS, type StoreSetting, withoutSecrets } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { printJson } from '../output.ts'
import { progressLine } from '../progress.ts'
import { counted } from '../steer/say.ts'
import { originWords } from '../store-origin.ts'
import { type Color, sanitize } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const doctor: Command = {
  operands: '',
  examples: [
    ['cronce doctor', 'one line for each check, and what to do'],
    ['cronce doctor --strict --json', 'for a pipeline: exit code 1 for warnings, too'],
    ['cronce doctor --quiet', 'only problems'],
  ],
  about: [
    'It changes nothing. Levels: ok; note: for your information; warn: something may go wrong; fail: something is wrong, or fires are not run.',
    'Exit code 1 if anything fails, 5 if the store does not answer. What each check means:\nhttps://github.com/cronce/cronce/blob/main/docs/doctor.md',
  ].join('\n'),
  flags: {
    strict: { type: 'boolean', help: 'Exit code 1 for warnings, too' },
    quiet: { type: 'boolean', short: 'q', help: 'Leave out the checks that are ok' },
    ...STORE_FLAGS,
    json: { type: 'boolean', help: 'Print one JSON object, {"version": 1, …}, and nothing else' },
  },
  run: runDoctor,
}

async function runDoctor(args: Args, io: Io): Promise<number> {
  atMost(args, 0, 'doctor')
  const setting = await findStoreOrDefault(args, io)
  if (setting.store === 'memory:') {
    throw new UsageError(
      'A store in memory is empty, and is discarded when this command ends.',
      'Name the store with --store.',
    )
  }
  const facts = await gather(setting, io)
  const findings = judge(facts)
  if (args.has('json')) printJson(answerOf(findings, facts), io)
  else print(findings, args.has('quiet'), io)
  return exitCode(findings, facts.store.trouble, args.has('strict'))
}

async function gather(setting: StoreSetting, io: Io): Promise<Facts> {
  const machine = gatherMachine(io, setting)
  const line = progressLine(io)
  line.show('asking the store')
  const { facts: store, client } = await gatherStore(setting)
  if (client === null) {
    line.clear()
    const trouble = store.trouble && { ...store.trouble, message: `${store.trouble.message}${originWords(io)}` }
    return { machine, store: { ...store, trouble }, fleet: null }
  }
  try {
    const fleet: FleetFacts = await withoutSecrets(setting.secrets, () =>
      gatherFleet(client, (count) => line.show(`${counted(count, 'schedule')} looked at`)),
    )
    return { machine, store, fleet }
  } catch (error) {
    return { machine, store: { ...store, trouble: troubleOf(error) }, fleet: null }
  } finally {
    line.clear()
    await client.close()
  }
}

const COLORS: Readonly<Record<Level, Color>> = { ok: 'green', note: 'cyan', warn: 'yellow', fail: 'red' }

function print(findings: readonly Finding[], isQuiet: boolean, io: Io): void {
  const shown = findings.filter(({ level }) => !isQuiet || level !== 'ok')
  const width = Math.max(0, ...shown.map(({ check }) => check.length))
  for (const { check, level, message, hint } of shown) {
    const text = sanitize(hint === null ? message : `${message} ${hint}`)
    io.out(`${io.paint(COLORS[level], level.padEnd(4))}  ${io.paint('dim', check.padEnd(width))}  ${text}\n`)
  }
  const { ok, note, warn, fail } = countsOf(findings)
  io.err(
    `${ok} in order, ${note} to know, ${warn} ${warn === 1 ? 'warning' : 'warnings'}, ${fail} ${fail === 1 ? 'failure' : 'failures'}.\n`,
  )
}

function countsOf(findings: readonly Finding[]): Record<Level, number> {
  const counts = { ok: 0, note: 0, warn: 0, fail: 0 }
  for (const { level } of findings) counts[level]++
  return counts
}

function answerOf(findings: readonly Finding[], { store, fleet }: Facts): object {
  const counts = countsOf(findings)
  return {
    healthy: counts.fail === 0,
    store: store.name,
    counts,
    findings,
    looked:
      fleet === null
        ? null
        : {
            schedules: fleet.schedules.length,
            isSample: fleet.isSample,
            instances: fleet.instances.length,
            openRuns: fleet.runs.length,
          },
  }
}

function exitCode(findings: readonly Finding[], trouble: Trouble | null, isStrict: boolean): number {
  if (trouble !== null && exitCodeOf(trouble) === EXIT.unreachable) return EXIT.unreachable
  const bad: readonly Level[] = isStrict ? ['warn', 'fail'] : ['fail']
  return findings.some(({ level }) => bad.includes(level)) ? EXIT.failed : EXIT.ok
}
