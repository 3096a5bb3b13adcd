import type { ConnectionOptions } from 'node:tls'
import {
  demandOptions,
  type ForeignNames,
  optionsInvalid as invalid,
  isUrlOrOptions,
  shown,
  targetHint,
} from '../store-options.ts'

/** What stores on clusters have in common, whatever runs there. */
export interface ClusterOptions {
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly tls?: ConnectionOptions | undefined
  readonly prefix?: string | undefined
  readonly timeoutMs?: number | undefined
}

const SHARED = ['user', 'password', 'tls', 'prefix', 'timeoutMs'] satisfies (keyof ClusterOptions)[]
const DEFAULT_PREFIX = 'cronce'
const DEFAULT_TIMEOUT_MS = 5_000
const LEAST_TIMEOUT_MS = 100

export interface ClusterKind<Options> {
  /** The function, which is also the scheme of its URLs. */
  readonly name: string
  /** For messages, with an article. */
  readonly store: string
  /** The option that lists the members, and what one of them is called. */
  readonly list: string & keyof Options
  readonly member: string
  /** One of them, as it may be written. */
  readonly sample: string
  readonly foreign: ForeignNames
  /** What the URL says. It comes before the other options. */
  fromUrl(url: string, more: Partial<Options>): Partial<Options>
}

type Complete<Options> = Options & { readonly prefix: string; readonly timeoutMs: number }

/** The options of a store that was given a URL or options, and more of them. Throws if they are wrong. */
export function clusterOptions<Options extends ClusterOptions>(
  kind: ClusterKind<Options>,
  target: string | Options,
  more: Partial<Options>,
): Complete<Options> {
  const { name, store, list, member, sample } = kind
  const foreign = { hosts: list, host: list, username: 'user', ssl: 'tls', ...kind.foreign }
  if (!isUrlOrOptions(target)) {
    const url = `${name}://${sample.replace(/^.*\//, '')}`
    const write = `Write ${name}('${url}') or ${name}({ ${list}: ['${sample}'] }).`
    throw invalid(`${name}() needs a URL or options, but got ${shown(target)}.`, targetHint(target, write))
  }
  const names = [list, ...SHARED]
  demandOptions(store, more, names, foreign)
  const [first, last] = typeof target === 'string' ? [more, kind.fromUrl(target, more)] : [target, more]
  const given = { ...first, ...last } as Options
  demandOptions(store, given, names, foreign)
  const { prefix = DEFAULT_PREFIX, timeoutMs = DEFAULT_TIMEOUT_MS } = given
  const members: unknown = given[list]
  if (!Array.isArray(members) || members.length === 0) {
    throw invalid(`The option ${list} must name at least one ${member}.`, `Write ${list}: ['${sample}'].`)
  }
  if (typeof prefix !== 'string' || !/^\P{Cc}+$/u.test(prefix)) {
    throw invalid(
      'The option prefix must be a text without control characters.',
      `Leave it out for '${DEFAULT_PREFIX}'.`,
    )
  }
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= LEAST_TIMEOUT_MS)) {
    const message = `The option timeoutMs must be a number of milliseconds, at least ${LEAST_TIMEOUT_MS}.`
    throw invalid(message, `Leave it out for ${DEFAULT_TIMEOUT_MS}.`)
  }
  return { ...given, prefix, timeoutMs }
}
