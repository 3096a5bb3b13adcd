import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname } from 'node:path'
import { promisify } from 'node:util'
import { CronceError } from 'cronce/cron'
import { jsonPlace } from '../json-place.ts'
import { loadModule } from '../load-module.ts'
import { inLoadTime } from './in-load-time.ts'
import { jobsError } from './jobs-error.ts'
import { isCommonJs } from './package-name.ts'
import { repeatedKey } from './repeated-key.ts'

const LOADABLE: readonly string[] = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json']

/**
 * The default export of a file that the user names: TypeScript as Node runs it, JavaScript of both kinds, or JSON.
 * Its errors are printed with its own stack frames and none of ours.
 */
export async function importFile(file: string): Promise<unknown> {
  demandFile(file)
  if (extname(file) === '.json') return readJson(file)
  let loaded: Record<string, unknown>
  try {
    loaded = await inLoadTime(file, loadModule(file))
  } catch (error) {
    if (error instanceof CronceError && error.code === 'JOBS_FAILED') throw error
    const detail = await placeOfSyntaxError(file, error)
    throw jobsError(`${file} can't be loaded`, error, { detail, hint: hintFor(error, file) })
  }
  return defaultOf(loaded)
}

function demandFile(file: string): void {
  if (!existsSync(file)) {
    throw new CronceError('JOBS_NOT_FOUND', `There is no file ${file}.`, { hint: 'Check the path of the jobs.' })
  }
  if (LOADABLE.includes(extname(file)) && statSync(file).isFile()) return
  throw new CronceError('JOBS_INVALID', `${file} is not a file that jobs can be loaded from.`, {
    hint: `Name one that ends in ${LOADABLE.join(', ')}.`,
  })
}

/** Of a module that a compiler made for `require`, `default` is all of `module.exports`, and the real one is inside it. */
function defaultOf({ default: outer }: Record<string, unknown>): unknown {
  if (typeof outer !== 'object' || outer === null) return outer
  const { __esModule: isCompiled, default: inner } = outer as {
    readonly __esModule?: unknown
    readonly default?: unknown
  }
  return isCompiled === true && inner !== undefined ? inner : outer
}

function readJson(file: string): unknown {
  const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '')
  try {
    const value: unknown = JSON.parse(text)
    demandKeysOnce(file, text)
    return value
  } catch (error) {
    if (error instanceof CronceError) throw error
    throw new CronceError('JOBS_INVALID', `${file}${jsonPlace(text, (error as Error).message)} is not JSON.`, {
      hint: 'Look for a missing or superfluous comma or quote there; JSON has no comments.',
      cause: error,
    })
  }
}

function demandKeysOnce(file: string, text: string): void {
  const repeated = repeatedKey(text)
  if (repeated === null) return
  const { key, line } = repeated
  throw new CronceError('JOBS_INVALID', `${file}, line ${line}, has ${JSON.stringify(key)} a second time.`, {
    hint: 'Give one of them another name: of two equal keys, JSON keeps the last.',
  })
}

/** Node does not tell a program where a module's syntax is wrong, but tells people when it is asked to check the file. */
async function placeOfSyntaxError(file: string, error: unknown): Promise<string | null> {
  if (!(error instanceof SyntaxError) || /^\S+:\d+\n/.test(error.stack ?? '')) return null
  try {
    await promisify(execFile)(process.execPath, ['--check', file], { timeout: 10_000 })
    // The trouble is in something that it imports.
    return null
  } catch (failed) {
    const { stderr = '' } = failed as { readonly stderr?: string }
    const [shown = ''] = stderr.split('\n    at ')
    return shown.includes('SyntaxError') ? shown.trimEnd() : null
  }
}

const ES_SYNTAX = /Unexpected token 'export'|Cannot use import statement|await is only valid/

function hintFor(error: unknown, file: string): string {
  const isModule = error instanceof SyntaxError && ES_SYNTAX.test(error.message)
  if (isModule && /\.[jt]s$/.test(file) && isCommonJs(dirname(file))) {
    const renamed = basename(file).replace(/\.([jt]s)$/, '.m$1')
    return `package.json says "type": "commonjs": rename it to ${renamed}, or run npm pkg set type=module.`
  }
  const { code } = (error ?? {}) as { readonly code?: unknown }
  switch (code) {
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return 'Node only strips types: write no enum, namespace or parameter property, or compile the file first.'
    case 'ERR_MODULE_NOT_FOUND':
      return 'Install what is missing; imports of own files name the file with its extension.'
    default:
      return 'Put the file right, then start again.'
  }
}
