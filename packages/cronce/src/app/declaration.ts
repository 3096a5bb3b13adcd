import type { EngineSettings } from '../engine/parts.ts'
import type { Labels } from '../model/placement.ts'
import type { Store } from '../store/store.ts'

/** What an app declares, without starting it. */
export interface Declaration {
  readonly namespace: string
  /** As its instance would have them in this process. */
  readonly settings: EngineSettings
  /** Another connection to the store of the app. */
  open(): Promise<Store>
  /** An instance of it on another store and in another time. Its handlers do nothing, and no target is loaded. */
  rehearse(around: Rehearsal): { start(): Promise<void>; stop(): Promise<void> }
}

/** A clock of the test kit. */
export interface VirtualTime {
  readonly wall: () => number
  readonly mono: () => number
  readonly boot: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

export interface Rehearsal {
  readonly store: Store
  readonly clock: VirtualTime
  readonly labels: Labels & { readonly host: string }
  readonly settings: Partial<EngineSettings>
}

/** A property, so that copies and wrappers of an app have it. `Symbol.for`: the app may be one of another copy of the library. */
const DECLARATION = Symbol.for('cronce.declaration')
/** Global, while a program loads modules only to learn what they declare: the apps that were made meanwhile. */
const DECLARING = Symbol.for('cronce.declaring')

type Declaring = { [DECLARING]?: object[] | undefined }

/** Apps that are made during `load` never start, and refuse every call of their store. `load` gets them as they come. */
export async function onlyDeclaring<Value>(load: (apps: readonly object[]) => Promise<Value>): Promise<Value> {
  const global = globalThis as Declaring
  const apps: object[] = []
  global[DECLARING] = apps
  try {
    return await load(apps)
  } finally {
    global[DECLARING] = undefined
  }
}

/** Whether an app that is made now is made only to be asked what it declares. */
export function isDeclaring(): boolean {
  return (globalThis as Declaring)[DECLARING] !== undefined
}

export function rememberDeclaration(app: object, read: () => Promise<Declaration>): void {
  Object.assign(app, { [DECLARATION]: read })
  const { [DECLARING]: apps } = globalThis as Declaring
  apps?.push(app)
}

/** `undefined`: it is an app of a version that does not tell. */
export function declarationOf(app: object): (() => Promise<Declaration>) | undefined {
  return (app as { readonly [DECLARATION]?: () => Promise<Declaration> })[DECLARATION]
}
