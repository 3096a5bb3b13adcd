import * as apply from '../../packages/cronce/dist/store/redis/scripts/apply.js'
import * as instances from '../../packages/cronce/dist/store/redis/scripts/instances.js'
import * as lists from '../../packages/cronce/dist/store/redis/scripts/lists.js'
import * as schedules from '../../packages/cronce/dist/store/redis/scripts/schedules.js'
import * as steps from '../../packages/cronce/dist/store/redis/scripts/steps.js'

/** Of what runs here, which is what was built. */
const NAMES = new Map(
  [apply, instances, lists, schedules, steps]
    .flatMap((module) => Object.values(module) as unknown[])
    .filter((value) => typeof value === 'object' && value !== null)
    .map((value) => value as { readonly sha?: string; readonly name?: string })
    .filter(({ sha, name }) => sha !== undefined && name !== undefined)
    .map(({ sha, name }) => [sha!, name!] as const),
)

/** Of a command, with a script by its name where it is one of ours. */
export function commandName(command: string): string {
  const sha = /^evalsha (\S+)$/.exec(command)?.[1]
  return sha === undefined ? command : (NAMES.get(sha) ?? `evalsha ${sha.slice(0, 6)}`)
}
