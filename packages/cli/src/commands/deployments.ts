import type { Client, DeploymentsView, DeploymentView, InstanceView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { didYouMean, isOfExec } from 'cronce/internal'
import type { Args } from '../args.ts'
import { authorOf, changeFlags, confirm, LOG, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import { inParallel } from '../in-parallel.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { type Column, formOf, OUTPUT_FLAGS, printJson, printList } from '../output.ts'
import { counted, firstFew, say, whyWords } from '../steer/say.ts'
import { formatInstant, roughWords, TIME_FLAGS, zoneOf } from '../time-words.ts'
import { suggestion, UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const deployments: Command = {
  operands: '[<activate>] [<deployment>]',
  examples: [
    ['cronce deployments', 'the versions of the code, and which one is active'],
    ['cronce deployments activate v41 --dry-run', 'what would a rollback to v41 change?'],
    ['cronce deployments activate v41 --app shop --yes', 'activate v41 at once, although v42 is live'],
  ],
  about: [
    'The active deployment decides what is scheduled: its definitions hold, and what only earlier ones declared is retired.',
    'activate needs a live instance of the deployment, and holds until a deployment appears for the first time. See https://github.com/cronce/cronce/blob/main/docs/deploys.md.',
  ].join('\n'),
  flags: {
    app: { type: 'string', value: 'NAME', help: 'Only those of this app' },
    ...changeFlags(LOG),
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runDeployments,
}

interface Row extends DeploymentView {
  readonly app: string
  readonly isActive: boolean
  /** Live or draining instances that run it. */
  readonly instances: number
}

const MOST_APPS = 100
const AT_A_TIME = 4

function runDeployments(args: Args, io: Io): Promise<number> {
  const [verb, id] = atMost(args, 2, 'deployments')
  if (verb === undefined) return list(args, io)
  if (verb !== 'activate') {
    throw new UsageError(
      `"${verb}" is not activate.${suggestion(verb, ['activate'])}`,
      'See cronce deployments --help.',
    )
  }
  if (id === undefined || id === '') {
    throw new UsageError('Which deployment?', 'Write cronce deployments activate ID; cronce deployments lists them.')
  }
  return activate(id, args, io)
}

function list(args: Args, io: Io): Promise<number> {
  const useless = ['dry-run', 'yes', 'no-input', 'note', 'author'].find((flag) => args.has(flag))
  if (useless !== undefined) throw new UsageError(`--${useless} is for activate.`, 'Leave it out.')
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const instances = await client.instances.list()
    const views = await viewsOf(client, instances, args.text('app'))
    const items = views.flatMap((view) => rowsOf(view, instances))
    const name = ({ id }: Row): string => id
    printList(
      { items, columns: columnsIn(tz, io.now), name, empty: 'No deployments: no instance has declared jobs.' },
      args,
      io,
    )
    return EXIT.ok
  })
}

function activate(id: string, args: Args, io: Io): Promise<number> {
  const isJson = formOf(args) === 'json'
  return withClient(args, io, async (client, io) => {
    const instances = await client.instances.list()
    const views = await viewsOf(client, instances, args.text('app'))
    const { app, active, deployments: known } = appOf(id, views)
    const chosen = rowsOf({ app, active, deployments: known }, instances).find((row) => row.id === id)!
    if (chosen.instances === 0) {
      throw new CronceError('DEPLOYMENT_NOT_LIVE', `No live instance of ${app} runs the deployment ${id}.`, {
        hint: 'Start a process of it, then activate it.',
      })
    }
    const plan = { lines: planWords(chosen, active, known), dangerous: true, json: { app, activate: id, active } }
    if (!(await confirm(plan, args, io))) return EXIT.ok
    const after = await client.deployments.activate(app, id, operatorOf(args, io))
    if (isJson) printJson({ ...after, ...authorOf(args, io) }, io)
    else say(`${id} is the active deployment of ${app}.${whyWords(authorOf(args, io))}`, io)
    return EXIT.ok
  })
}

function planWords(
  { app, id, declares, isActive }: Row,
  active: string | null,
  known: readonly DeploymentView[],
): readonly string[] {
  if (isActive) return [`${id} is the active deployment of ${app}; it stays so until a new one appears.`]
  const now = known.find((deployment) => deployment.id === active)
  const gone = now?.declares.filter((name) => !declares.includes(name)) ?? []
  return [
    `Activate ${id} of ${app} instead of ${active ?? 'none'}: its definitions hold at once, until a new deployment appears.`,
    ...(gone.length === 0 ? [] : [`Only ${active} declares ${counted(gone.length, 'schedule')}: ${firstFew(gone)}.`]),
  ]
}

/** Of the app that is named, or of every app that has instances or schedules. */
async function viewsOf(
  client: Client,
  instances: readonly InstanceView[],
  named: string | undefined,
): Promise<readonly DeploymentsView[]> {
  if (named !== undefined) return [await client.deployments.get(named)]
  const { items } = await client.schedules.list({ internal: true, limit: 1_000 })
  const apps = new Set([...instances.map(({ app }) => app), ...items.flatMap(({ app }) => app ?? [])])
  const shown = [...apps].filter((app) => !isOfExec({ app })).sort()
  const found = await inParallel(shown.slice(0, MOST_APPS), AT_A_TIME, async (app) => {
    try {
      return await client.deployments.get(app)
    } catch (error) {
      // A process without jobs has declared nothing.
      if (error instanceof CronceError && error.code === 'APP_NOT_FOUND') return null
      throw error
    }
  })
  return found.filter((view) => view !== null)
}

function appOf(id: string, views: readonly DeploymentsView[]): DeploymentsView {
  const [found, other] = views.filter(({ deployments: known }) => known.some((deployment) => deployment.id === id))
  if (found !== undefined && other === undefined) return found
  if (found !== undefined) {
    throw new UsageError(`${found.app} and ${other!.app} both have a deployment ${id}.`, 'Add --app NAME.')
  }
  const ids = views.flatMap(({ deployments: known }) => known.map((deployment) => deployment.id))
  const meant = didYouMean(id, ids)
  throw new CronceError('DEPLOYMENT_NOT_FOUND', `There is no deployment ${JSON.stringify(id)}.`, {
    hint: meant === undefined ? 'List them with cronce deployments.' : `Did you mean ${meant}?`,
  })
}

function rowsOf(
  { app, active, deployments: known }: Pick<DeploymentsView, 'app' | 'active' | 'deployments'>,
  instances: readonly InstanceView[],
): readonly Row[] {
  const live = instances.filter(({ app: of, state }) => of === app && (state === 'live' || state === 'draining'))
  return known.map((deployment) => ({
    ...deployment,
    app,
    isActive: deployment.id === active,
    instances: live.filter((instance) => instance.deployment === deployment.id && instance.jobs.length > 0).length,
  }))
}

function columnsIn(tz: string, now: number): readonly Column<Row>[] {
  return [
    { title: 'APP', value: ({ app }) => app },
    { title: 'DEPLOYMENT', value: ({ id }) => id, color: () => 'bold', shrinks: true },
    {
      title: 'STATE',
      value: stateWords,
      color: ({ isActive, onProbation }) => (isActive ? 'green' : onProbation ? 'yellow' : undefined),
    },
    { title: 'INSTANCES', value: ({ instances }) => String(instances), align: 'right' },
    { title: 'SCHEDULES', value: ({ declares }) => String(declares.length), align: 'right' },
    { title: 'SINCE', value: ({ firstReadyAt }) => roughWords(firstReadyAt, now) },
    { title: 'NUMBER', value: ({ number }) => String(number), align: 'right', wide: true },
    { title: 'ID', value: ({ explicit }) => (explicit ? 'named' : 'hash of its declarations'), wide: true },
    { title: 'FIRST READY', value: ({ firstReadyAt }) => formatInstant(firstReadyAt, tz), wide: true },
    { title: 'DECLARES', value: ({ declares }) => declares.join(', '), wide: true },
  ]
}

function stateWords({ isActive, onProbation, lost, goneAt }: Row): string {
  if (isActive) return goneAt === null ? 'active' : 'active, gone'
  if (lost) return 'lost'
  if (onProbation) return 'on probation'
  return goneAt === null ? 'live' : 'gone'
}
