import { judge } from '../cron/judge.ts'
import type { FileTree } from '../discover/tree.ts'
import type { Schedule, When } from '../facts/schedule.ts'
import { isNode, type Node, unwrap, wordsOf } from '../read/javascript/ast.ts'
import type { Module } from '../read/javascript/module.ts'
import { modulesOf } from '../read/javascript/modules.ts'
import { findRegistrations } from '../read/javascript/registrations.ts'
import { lineOfCall } from '../read/javascript/schedules.ts'
import type { Report } from './report.ts'
import { whenWords } from './words.ts'

const HEADER = `import { cronce } from 'cronce'

// misfire: 'skip' keeps what the old scheduler did: a fire that is due while no process runs is lost. Without it, cronce catches up.
const app = cronce({ store: process.env.CRONCE_STORE }) // sqlite:, postgres:// or redis://
`

/** For each in-process job with a finding: the declaration that replaces it. */
export function migration({ schedules, findings, tree }: Report): string {
  const names = new Set<string>()
  const parts: string[] = []
  const left: string[] = []
  for (const [where, list] of Map.groupBy(schedules, ({ place }) => `${place.path}:${place.line}`)) {
    const rules = findings.filter(({ place }) => `${place.path}:${place.line}` === where).map(({ rule }) => rule)
    const [schedule] = list
    if (schedule === undefined || schedule.runner !== 'process' || rules.length === 0) continue
    const reason = list.length > 1 ? 'several schedules are registered by one call' : reasonToLeave(schedule)
    if (reason === null) parts.push(declaration(tree, schedule, where, rules, names))
    else left.push(`// ${where}: not translated, because ${reason}.`)
  }
  if (parts.length === 0 && left.length === 0) return '// No in-process job has a finding.\n'
  const rest = left.length === 0 ? [] : [`${left.join('\n')}\n`]
  return `${[HEADER, ...parts, ...rest, 'await app.start()'].join('\n')}\n`
}

/** `null`: it can be written as a declaration. */
function reasonToLeave({ when, source, isDynamic }: Schedule): string | null {
  if (source === 'apscheduler' || source === 'py-schedule')
    return 'it is Python: declare it with `command`, see https://github.com/cronce/cronce/blob/main/docs/targets.md'
  if (isDynamic) return 'it is created at run time: use `app.schedules.create`'
  if (when.kind === 'cron' && judge(when.expression, when.dialect).trigger === null)
    return `\`${when.expression}\` is no valid expression`
  return when.kind === 'cron' || when.kind === 'every' ? null : `when it runs ${whenWords(when)}`
}

function declaration(
  tree: FileTree,
  schedule: Schedule,
  where: string,
  rules: readonly string[],
  names: Set<string>,
): string {
  const name = uniqueName(schedule, names)
  const { code, notes } = handlerCode(tree, schedule)
  const options = [...triggerOptions(schedule.when), ...zoneOption(schedule, notes)]
  // In this process a slow run did not keep the next one away.
  if (schedule.overlap === 'possible') options.push("overlap: 'allow'")
  options.push("misfire: 'skip'")
  const comments = [
    `// ${where} (${schedule.source}; ${[...new Set(rules)].join(', ')})`,
    ...notes.map((note) => `// ${note}`),
  ]
  return `${comments.join('\n')}\napp.job(${quoted(name)}, { ${options.join(', ')} }, ${code})\n`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', ' ')}'`
}

/** Its own name, or that of the handler, or that of the file. */
function uniqueName({ name, handler, place }: Schedule, names: Set<string>): string {
  const called = /^[\w$.]+$/.test(handler.text) ? handler.text.split('.').at(-1)! : ''
  const file = place.path
    .split('/')
    .at(-1)!
    .replace(/\.\w+$/, '')
  const base = name ?? (wordsOf(called === '' || called === 'onTick' ? file : called).join('-') || 'job')
  let unique = base
  for (let count = 2; names.has(unique); count++) unique = `${base}-${count}`
  names.add(unique)
  return unique
}

function triggerOptions(when: When): string[] {
  if (when.kind === 'every') return [`every: ${quoted(`${when.ms}ms`)}`]
  return when.kind === 'cron' ? [`cron: ${quoted(when.expression.trim())}`] : []
}

function zoneOption({ zone, when }: Schedule, notes: string[]): string[] {
  if (when.kind !== 'cron') return []
  if (zone.kind === 'stated') return [`tz: ${quoted(zone.name)}`]
  if (zone.kind === 'computed') notes.push('The zone came from configuration: pass it as `tz`.')
  else if (zone.kind === 'none') notes.push('No zone was stated, so the zone of the host decided. Put it here.')
  return ["tz: 'UTC'"]
}

/** The handler as it is written, so that the declaration can be pasted into the same file. */
function handlerCode(tree: FileTree, { place, source }: Schedule): { code: string; notes: string[] } {
  const module = modulesOf(tree).get(place.path)
  const found =
    module === null
      ? []
      : findRegistrations(modulesOf(tree), module).filter(({ node }) => lineOfCall(module, node) === place.line)
  const handler = found.length === 1 ? found[0]!.handler : null
  if (module === null || handler === null)
    return { code: 'async () => {}', notes: ['The handler could not be found: write it here.'] }
  const node = unwrap(handler)
  if (source === 'nest') return nestCode(module, node)
  const notes =
    (node.params ?? []).length > 0 ? ['The handler is now handed a run: its due time is `run.fire.dueAt`.'] : []
  return { code: functionCode(module, node), notes }
}

/** `onTick() { … }` of an object becomes an arrow; what stands by itself is copied. */
function functionCode(module: Module, node: Node): string {
  const text = module.text.slice(node.start, node.end)
  const body = isNode(node.body) ? node.body : null
  const isMethod = node.type === 'FunctionExpression' && !/^(?:async\s+)?function\b/.test(text)
  if (!isMethod || body === null) return text
  const head = module.text.slice(node.start, body.start).trim()
  return `${node.async === true ? 'async ' : ''}${head.slice(head.indexOf('('))} => ${module.text.slice(body.start, body.end)}`
}

/** A method stays where it is, and the provider calls it. */
function nestCode(module: Module, method: Node): { code: string; notes: string[] } {
  const definition = method.parent
  const name =
    definition !== null && isNode(definition.key) ? module.text.slice(definition.key.start, definition.key.end) : 'run'
  return {
    code: `() => this.${name}()`,
    notes: ['Declare it in `onModuleInit` of the same provider, and delete the decorator.'],
  }
}
