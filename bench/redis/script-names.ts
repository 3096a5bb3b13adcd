import * as scripts from '../../packages/cronce/src/store/redis/scripts.ts'

/** The build does not change the scripts, so their hashes are those of the sources. */
const NAMES: ReadonlyMap<string, string> = new Map(
  (Object.values(scripts) as readonly { readonly sha: string; readonly name: string }[]).map(({ sha, name }) => [
    sha,
    name,
  ]),
)

/** Of a command, with a script by its name where it is one of ours. */
export function commandName(command: string): string {
  const sha = /^evalsha (\S+)$/.exec(command)?.[1]
  return sha === undefined ? command : (NAMES.get(sha) ?? `evalsha ${sha.slice(0, 6)}`)
}
