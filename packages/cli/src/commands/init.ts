import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CronceError } from 'cronce/cron'
import type { Args } from '../args.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { atMost } from '../operands.ts'
import { printJson } from '../output.ts'
import { secretsOf } from '../redact.ts'
import { detect, type ProjectFacts } from '../service/init/detect.ts'
import { nextSteps } from '../service/init/next-steps.ts'
import { type NewFile, renderFiles } from '../service/init/render.ts'
import { sanitize } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const init: Command = {
  operands: '',
  examples: [
    ['cronce init', 'write a configuration and an example job into this folder'],
    ['cronce init --dry-run', 'show them, and write nothing'],
    ['cronce init --store env:DATABASE_URL --typescript', 'choose the store and the language yourself'],
  ],
  about: 'Looks at package.json, tsconfig.json and the environment. Overwrites existing files only with --force.',
  flags: {
    store: {
      type: 'string',
      value: 'URL',
      help: 'URL of the store: env:NAME, @FILE, sqlite:FILE, or a URL without a password',
    },
    typescript: { type: 'boolean', help: 'Write TypeScript (default: if the project has it, or is new)' },
    javascript: { type: 'boolean', help: 'Write JavaScript' },
    force: { type: 'boolean', help: 'Overwrite existing files' },
    'dry-run': { type: 'boolean', help: 'Print what would be written, and write nothing' },
    'no-input': { type: 'boolean', help: 'Never ask' },
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runInit,
}

type Action = 'write' | 'overwrite' | 'keep'

async function runInit(args: Args, io: Io): Promise<number> {
  atMost(args, 0, 'init')
  const facts = languageOf(args, detect(io.cwd, io.env))
  const store = await chooseStore(args, io, facts)
  const there = readdirSync(io.cwd)
  const isDry = args.has('dry-run')
  const planned = renderFiles(facts, store).map((file) => ({ file, ...actionFor(file, there, args.has('force')) }))
  for (const { file, action } of planned) if (!isDry && action !== 'keep') write(join(io.cwd, file.name), file, action)
  const steps = nextSteps(facts, store)
  if (args.has('json')) {
    const files = planned.map(({ file, action, existing }) => ({
      name: existing ?? file.name,
      action,
      ...(isDry ? { text: file.text } : {}),
    }))
    printJson({ dryRun: isDry, store, files, next: steps }, io)
    return EXIT.ok
  }
  for (const { file, action, existing } of planned) io.out(`${lineFor(file, action, existing, isDry, io)}\n`)
  io.err(`\n${io.paintErr('bold', 'Next')}\n${steps.map((step) => `  ${step}`).join('\n')}\n`)
  return EXIT.ok
}

function languageOf(args: Args, facts: ProjectFacts): ProjectFacts {
  const [typed, plain] = [args.has('typescript'), args.has('javascript')]
  if (typed && plain) throw new UsageError('--typescript and --javascript are two languages.', 'Leave out one.')
  return typed || plain ? { ...facts, isTypeScript: typed } : facts
}

const STORE =
  /^(env:\w+|@.+|sqlite:.+|memory:|postgres(ql)?:\/\/.+|rediss?(-cluster)?:\/\/.+|redis\+unix:.+|etcds?:\/\/.+|zookeepers?:\/\/.+)$/

async function chooseStore(args: Args, io: Io, { store: guess }: ProjectFacts): Promise<string> {
  const given = args.text('store')
  const mayAsk = given === undefined && io.ask !== null && !args.has('no-input') && !args.has('json')
  const answer = mayAsk ? await io.ask!(`Store [${guess.text}, since ${guess.why}]: `) : ''
  const store = given ?? (answer.trim() || guess.text)
  if (!STORE.test(store)) {
    throw new UsageError('This is not a URL of a store.', 'Write env:DATABASE_URL, sqlite:cronce.db, or another URL.')
  }
  if (secretsOf(store).length === 0) return store
  throw new CronceError('OPTION_INVALID', 'The URL of the store has a secret, which must not get into a file.', {
    hint: 'Set it in the environment, and write --store env:DATABASE_URL.',
  })
}

/** One of another kind counts: two configurations would be one too many. */
function actionFor(
  { stem, name }: NewFile,
  there: readonly string[],
  force: boolean,
): { action: Action; existing?: string } {
  const existing = there.find((found) => new RegExp(`^${stem.replace('.', '\\.')}\\.(c|m)?(ts|js)(on)?$`).test(found))
  if (existing === undefined) return { action: 'write' }
  return force && existing === name ? { action: 'overwrite' } : { action: 'keep', existing }
}

function write(path: string, { text }: NewFile, action: Action): void {
  // Another process may have written it since we looked.
  writeFileSync(path, text, { flag: action === 'overwrite' ? 'w' : 'wx' })
}

function lineFor(file: NewFile, action: Action, existing: string | undefined, isDry: boolean, io: Io): string {
  if (action === 'keep') {
    const isOther = existing !== file.name
    return `kept     ${sanitize(existing ?? file.name)}${io.paint('dim', isOther ? '' : '  (--force overwrites it)')}`
  }
  const done = action === 'write' ? 'wrote   ' : 'replaced'
  if (!isDry) return `${done} ${file.name}`
  return [
    io.paint('bold', `--- ${file.name}${action === 'overwrite' ? ' (instead of what is there)' : ''}`),
    file.text,
  ].join('\n')
}
