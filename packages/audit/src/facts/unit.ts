import type { Place } from './place.ts'

/** Something that a deployment starts: a process type, a container, a PM2 app. */
export interface Unit {
  readonly kind: 'unit'
  /** The line that states the instances, or else that names the unit. */
  readonly place: Place
  readonly format: 'pm2' | 'procfile' | 'dockerfile' | 'compose' | 'kubernetes' | 'shell' | 'cluster'
  readonly name: string
  /** `many`: more than one, or as many as there are cores. `one`: at most one. `unstated`: as the operator decides. */
  readonly instances: 'one' | 'many' | 'unstated'
  /** What states the instances, as written: `instances: 'max'`, `replicas: 3`, `--workers 4`. */
  readonly evidence: string
  /** The command as words, or `null` if the image decides. */
  readonly command: readonly string[] | null
  /** Files that it starts, if the format names them (PM2 `script`); relative to the root of the audit. */
  readonly entries: readonly string[]
  /** Folder in which the command runs, relative to the root of the audit: '' is the root. */
  readonly folder: string
  /** Image name, or folder of the Dockerfile (compose `build`), to join units with Dockerfiles. */
  readonly image: string | null
  readonly build: string | null
  /** Whether a deploy starts the new instance before the old one stops; `null`: not stated by this format. */
  readonly startsBeforeStop: boolean | null
}
