import { parseDurationText } from '../duration-text.ts'
import type { Io } from '../io.ts'
import type { StoreSetting } from '../open-store.ts'
import { version } from '../version.ts'
import type { MachineFacts } from './facts.ts'

export function gatherMachine({ env, now }: Io, { config }: Pick<StoreSetting, 'config'>): MachineFacts {
  const { KUBERNETES_SERVICE_HOST: kubernetes, CRONCE_DRAIN: drain, NODE_OPTIONS: nodeOptions = '' } = env
  const { tz: zoneData = '' } = process.versions
  const given = drain || config.drain
  return {
    version: version(),
    node: process.version,
    experimental: [...process.execArgv, ...nodeOptions.split(/\s+/)].filter((flag) =>
      flag.startsWith('--experimental-'),
    ),
    zoneData,
    now,
    isKubernetes: kubernetes !== undefined && kubernetes !== '',
    drainMs: given === undefined ? null : parseDurationText(String(given)),
  }
}
