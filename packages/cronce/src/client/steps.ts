import { CronceError } from '../errors.ts'
import type { Json } from '../model/json.ts'
import { LIMITS } from '../model/limits.ts'
import type { FireKey } from '../model/record.ts'
import { findRun } from '../store/list-views.ts'
import { logAlone } from './activity.ts'
import { readStore, writeStore } from './ask-store.ts'
import { viewStep } from './make-view.ts'
import type { ClientParts } from './parts.ts'
import { AUTHORED, type Authored, type FireRef, readCommand, readFireKey, readOperator } from './read-command.ts'
import { readInput } from './read-input.ts'
import { optionConflict, readText } from './read-option.ts'
import type { StepView } from './views.ts'

/** How a step of unknown end ended: with a result that later runs are given, or not at all, so that they run it again. */
export type StepResolution = { readonly result: Json } | { readonly failed: true }

/** Durable steps: list them, resolve one whose end is unknown. */
export interface Steps {
  /** The durable steps of a fire, as they were begun. */
  list(fire: FireRef): Promise<readonly StepView[]>
  /** Say how a step ended whose run died in the middle of it. */
  resolve(fire: FireRef, step: string, resolution: StepResolution, by?: Authored): Promise<void>
}

export function makeSteps<Tx>(parts: ClientParts<Tx>): Steps {
  const { store } = parts
  const list = async (fire: FireRef): Promise<readonly StepView[]> => {
    const key = readFireKey(fire)
    return (await readStore('list steps', () => store.listSteps(key))).map(viewStep)
  }
  return {
    list,
    async resolve(fire, step, resolution, by) {
      const key = readFireKey(fire)
      const name = readText('step', step, LIMITS.dedupeKey)
      const { failed, result } = readResolution(resolution)
      const act = { action: 'resolve', by: readOperator(readCommand(by, AUTHORED)) } as const
      const known = (await list(fire)).find((record) => record.step === name)
      if (known !== undefined) await demandOver(key, known)
      const answer = await writeStore('resolve a step', () =>
        store.step({ kind: 'resolve', fire: key, step: name, failed, result }),
      )
      if (answer.kind === 'applied') {
        const { schedule, ...which } = key
        return logAlone(parts, act, { ...which, step: name, failed }, schedule)
      }
      if (answer.kind === 'not-found') throw notFound(name)
      throw new CronceError('STEP_ENDED', `The end of step ${JSON.stringify(name)} is on record.`, {
        hint: 'List the steps of the fire to see it.',
      })
    },
  }

  async function demandOver(fire: FireKey, { step, state, token }: StepView): Promise<void> {
    if (state !== 'begun') return
    const run = await readStore('look for a run', () => findRun(store, fire, token))
    if (run?.ending !== null) return
    throw new CronceError('STEP_RUNNING', `Step ${JSON.stringify(step)} is being run, by run ${token}.`, {
      hint: 'Wait for the run, or cancel it first.',
    })
  }
}

function readResolution(resolution: unknown): { readonly failed: boolean; readonly result: Json } {
  const { result, failed } = readCommand(resolution, ['result', 'failed'])
  if (failed === true && result === undefined) return { failed: true, result: null }
  if (failed === undefined && result !== undefined) {
    return { failed: false, result: readInput(result, { what: 'result', max: LIMITS.stepResult }) }
  }
  throw optionConflict('A step ended either with a result or as failed.', 'Write { result: … } or { failed: true }.')
}

function notFound(step: string): CronceError {
  return new CronceError('STEP_NOT_FOUND', `There is no record of step ${JSON.stringify(step)} of this fire.`, {
    hint: 'List the steps of the fire to see their names.',
  })
}
