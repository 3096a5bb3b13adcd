const PREFIX = 'CRONCE_ENV_'

type Env = Readonly<Record<string, string>>

/**
 * What `cronce exec` is to hand on to its command, under names that neither node nor cronce listens to: a PATH, a TZ or a
 * CRONCE_STORE of the command must not decide where the fire is claimed. Nor do they stand on the command line, for all to see.
 */
export function envForExec(env: Env): Env {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [`${PREFIX}${name}`, value]))
}

/** The same turned around: what the command is given. What was not meant for it alone stays as it is. */
export function envOfCommand(env: Env): Env {
  const handed = Object.entries(env).filter(([name]) => isHandedOn(name))
  const others = Object.entries(env).filter(([name]) => !isHandedOn(name))
  return Object.fromEntries([...others, ...handed.map(([name, value]) => [name.slice(PREFIX.length), value] as const)])
}

/** Changes to our own environment: what is handed on, and is reported once. */
export function handedOn(env: Readonly<Record<string, string | undefined>>): Record<string, string | null> {
  const handed = Object.entries(env).filter((entry): entry is [string, string] => isHandedOn(entry[0]))
  return { ...Object.fromEntries(handed.map(([name]) => [name, null])), ...envOfCommand(Object.fromEntries(handed)) }
}

function isHandedOn(name: string): boolean {
  return name.startsWith(PREFIX) && name.length > PREFIX.length
}
