import type { FileTree } from '../../discover/tree.ts'
import type { Fact } from '../../facts/fact.ts'
import type { LockFlaw } from '../../facts/lock.ts'
import type { Guard, Schedule } from '../../facts/schedule.ts'
import type { Reader } from '../reader.ts'
import { findAll, isCall, pathOf } from './ast.ts'
import { clusterUnits } from './cluster.ts'
import { guardOfPath } from './find-guard.ts'
import { lockFlawsIn } from './locks.ts'
import { type Module, parseModule } from './module.ts'
import { isScript, MAX_LENGTH, type Modules, modulesOf } from './modules.ts'
import { isCronRoute, routeIn } from './routes.ts'
import { schedulesIn } from './schedules.ts'
import { ownGuardsOf } from './settings.ts'
import { repeatablesIn, timersIn } from './timers.ts'

const HINTS =
  /[nN]ode-?[cC]ron|['"](?:cron|croner|bree|agenda|pg-boss|toad-scheduler|node-schedule)['"]|@nestjs\/schedule|@elysiajs\/cron|upsertJobScheduler|\brepeat\s*:|repeatEvery|setInterval\s*\(|cluster\.fork|advisory_lock|[cC]ron[-_]?[lL]ock|[jJ]ob[-_]?[lL]ock|[lL]eaderElect|process\.env\.\w*CRON|\.every\(/

const SKIPPED =
  /\.(?:test|spec|e2e|stories|bench)\.[cm]?[jt]sx?$|(?:^|\/)(?:__tests__|__mocks__|tests?|e2e|spec|fixtures|node_modules|dist|build|out|vendor|coverage|\.next|\.nuxt|\.venv|public|static)\//

export const javascriptReader: Reader = {
  name: 'JavaScript and TypeScript',
  reads: (path) => isScript(path) && !SKIPPED.test(path),
  mayHoldFacts: (text, path) => HINTS.test(text) || /cron/i.test(text) || /cron|lock|leader/i.test(path),
  read: ({ path, text }, tree) => {
    const file = path.split('/').at(-1)!
    const routes = listedRoutes(tree)
    const isRoute = isCronRoute(path, routes)
    if (!HINTS.test(text) && !isRoute && !/lock|leader/i.test(file)) return []
    if (text.length > MAX_LENGTH) throw new Error(`The file has more than ${MAX_LENGTH / 1e6} million characters.`)
    const modules = modulesOf(tree)
    // Parsed here once more if it fails, for the message.
    const module = modules.get(path) ?? parseModule(path, text)
    return factsIn(modules, module, tree, isRoute)
  },
}

function factsIn(modules: Modules, module: Module, tree: FileTree, isRoute: boolean): Fact[] {
  const isBrowser = runsInBrowser(module)
  const registered = isBrowser ? [] : schedulesIn(modules, module, ownGuardsOf(tree), nestRootOf(tree, modules))
  const schedules = registered.flatMap(({ schedules: found }) => found)
  const handlers = registered.flatMap(({ schedules: found, refs }) => (found[0]?.runner === 'process' ? refs : []))
  const route = isRoute ? routeIn(modules, module) : null
  return [
    ...schedules,
    ...schedules.flatMap(guardFlaw),
    ...(isBrowser ? [] : timersIn(modules, module)),
    ...repeatablesIn(module),
    ...lockFlawsIn(modules, module, handlers),
    ...clusterUnits(modules, module),
    ...(route === null ? [] : [route]),
  ]
}

/** A guard that has no effect is a flaw of its own, where it is declared. */
function guardFlaw({ guard }: Schedule): LockFlaw[] {
  if (guard.kind !== 'ineffective') return []
  const flaw = guard.text.startsWith('@') ? 'metadata-only' : 'in-memory'
  return [{ kind: 'lock-flaw', place: guard.place, flaw, text: guard.text }]
}

const BROWSER_FOLDER = /(?:^|\/)(?:client|frontend|browser|components|hooks|assets|views|renderer|extension)\//
const BROWSER_TEXT = /^\s*['"]use client['"]|\bfrom\s+['"](?:react|react-dom|vue|svelte|@angular\/core|preact)['"]/m
const DOCUMENT = /\b(?:window|document)\.(?:addEventListener|location|querySelector|getElementById)\b/
/** Programs that drive a browser hold code for its page. */
const SERVER_TEXT =
  /['"](?:puppeteer(?:-\w+)?|playwright(?:-\w+)?|selenium-webdriver|jsdom|express|fastify|node-cron|node-schedule|node:\w+|@nestjs\/\w+)['"]/

function runsInBrowser({ path, text }: Module): boolean {
  return (
    /\.[jt]sx$/.test(path) ||
    BROWSER_TEXT.test(text) ||
    (DOCUMENT.test(text) && !SERVER_TEXT.test(text)) ||
    (BROWSER_FOLDER.test(path) && !/\b(?:require|from)\s*\(?['"](?:node:|node-cron|express|fs['"])/.test(text))
  )
}

const routesOfTree = new WeakMap<FileTree, readonly string[]>()

/** Paths that `vercel.json` lists as crons. */
function listedRoutes(tree: FileTree): readonly string[] {
  const known = routesOfTree.get(tree)
  if (known !== undefined) return known
  const routes = tree.paths
    .filter((path) => /(?:^|\/)vercel\.json$/.test(path))
    .flatMap((path) => {
      const crons = /"crons"\s*:\s*\[([\s\S]*?)\]/.exec(tree.text(path) ?? '')?.[1] ?? ''
      return [...crons.matchAll(/"path"\s*:\s*"([^"]+)"/g)].map(([, route]) => route!)
    })
  routesOfTree.set(tree, routes)
  return routes
}

const rootOfTree = new WeakMap<FileTree, Guard>()

/** What decides whether Nest starts its schedules at all: conditions around `ScheduleModule.forRoot()`. */
function nestRootOf(tree: FileTree, modules: Modules): Guard {
  const known = rootOfTree.get(tree)
  if (known !== undefined) return known
  const roots = tree.paths.flatMap((path) => {
    if (!isScript(path) || !/module\.[cm]?[jt]s$|main\.[jt]s$|app\.[jt]s$/.test(path)) return []
    const text = tree.text(path)
    if (text === null || !text.includes('ScheduleModule')) return []
    const module = modules.get(path)
    if (module === null) return []
    return findAll(module.program, isCall)
      .filter(({ callee }) => pathOf(callee!).join('.') === 'ScheduleModule.forRoot')
      .map((call) => guardOfPath(modules, module, call, [], 1))
  })
  const guard: Guard =
    roots.length > 0 && roots.every(({ kind }) => kind === 'designated') ? roots[0]! : { kind: 'none' }
  rootOfTree.set(tree, guard)
  return guard
}
