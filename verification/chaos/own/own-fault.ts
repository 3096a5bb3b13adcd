import { basename, resolve } from 'node:path'
import type { Fault } from '../faults.ts'

/** A fault from a file of the caller: the module exports `fault`, and `name` if its file name is not to be used. */
export interface OwnFault {
  readonly name: string
  readonly fault: Fault
}

export async function loadFault(file: string): Promise<OwnFault> {
  const path = resolve(file)
  const { fault, name } = (await import(path)) as { readonly fault?: unknown; readonly name?: unknown }
  if (typeof fault !== 'function') throw new Error(`${file} must export a function \`fault\`.`)
  return { fault: fault as Fault, name: typeof name === 'string' ? name : basename(file, '.ts') }
}
