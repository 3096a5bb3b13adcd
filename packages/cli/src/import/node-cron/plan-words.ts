import { joinWords } from '../../format.ts'
import type { Load } from './find-tasks.ts'
import type { FleetOption, NodeCronPlan, TaskPlan, Way } from './plan-edits.ts'

/** What a fleet makes of options that node-cron looks at in its own process. */
const FLEET_WORDS: Readonly<Record<FleetOption, Readonly<Record<Way, string>>>> = {
  maxExecutions: {
    coordinator: 'counts in each process by itself: three processes run a task up to three times as often.',
    'drop-in': 'counts in each process by itself: three processes run a task up to three times as often.',
  },
  noOverlap: {
    coordinator:
      "looks at its own process only: two processes may run slots of one task at the same time. Add overlap: 'fleet' to runCoordinator.",
    'drop-in': 'looks at all processes: a slot is skipped while any process still runs the one before.',
  },
}

/** Sentences about what is read differently in a fleet. */
export function planWarnings(plan: NodeCronPlan, way: Way): readonly string[] {
  const warnings = (['maxExecutions', 'noOverlap'] as const).flatMap((option) => {
    const tasks = plan.tasks.filter(({ fleetOptions, action }) => fleetOptions.includes(option) && action !== 'own')
    return tasks.length === 0 ? [] : [`${option} of ${joinWords(tasks.map(placeOf))} ${FLEET_WORDS[option][way]}`]
  })
  if (way === 'drop-in' || plan.loads.size < 2 || plan.coordinates.size > 1) return warnings
  return [...warnings, TWO_COPIES]
}

const TWO_COPIES =
  'Some files import node-cron and others require it. Node.js loads two copies of node-cron then, each with its own coordinator: call setRunCoordinator of both. See https://github.com/cronce/cronce/blob/main/docs/node-cron.md.'

function placeOf({ name, nameCode, file, line }: TaskPlan): string {
  const called = name ?? nameCode
  return called === null ? `${file}:${line}` : `${called} (${file}:${line})`
}

const LINES: Readonly<Record<Way, Readonly<Record<Load, readonly string[]>>>> = {
  coordinator: {
    import: [
      "import { runCoordinator } from 'cronce/node-cron'",
      "import cron from 'node-cron'",
      'const coordinator = runCoordinator(process.env.CRONCE_STORE, { cron })',
      'cron.setRunCoordinator(coordinator)',
      'await coordinator.ready()',
    ],
    require: [
      "const { runCoordinator } = require('cronce/node-cron')",
      "const cron = require('node-cron')",
      'const coordinator = runCoordinator(process.env.CRONCE_STORE, { cron })',
      'cron.setRunCoordinator(coordinator)',
      "coordinator.ready().then(() => require('./tasks.js')) // the files with tasks",
    ],
  },
  'drop-in': {
    import: ["import cron from 'cronce/node-cron'", 'cron.setup({ store: process.env.CRONCE_STORE })'],
    require: ["const cron = require('cronce/node-cron')", 'cron.setup({ store: process.env.CRONCE_STORE })'],
  },
}

export interface SetUp {
  readonly words: string
  /** The code. */
  readonly lines: readonly string[]
}

/** What is to be written once, besides the tasks; `null`: nothing, or it is there. */
export function setUpOf({ tasks, loads, hasCoordinator, hasSetup }: NodeCronPlan, way: Way): SetUp | null {
  if (tasks.length === 0 || (way === 'drop-in' ? hasSetup : hasCoordinator)) return null
  const words =
    way === 'drop-in'
      ? 'No file calls cron.setup. Set CRONCE_STORE to the URL of a store, or put this into a file that is loaded first:'
      : 'No file calls setRunCoordinator. Put this into a file of its own, and load that file before all others, since a task keeps the coordinator that was set when it was made, and slots before ready() may be skipped:'
  return { words, lines: LINES[way][loads.has('import') ? 'import' : 'require'] }
}
