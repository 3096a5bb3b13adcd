import type { PolicyChoices } from '../../../packages/cronce/src/model/policy.ts'
import type { Definition } from '../../../packages/cronce/src/model/schedule.ts'
import { JOB } from '../state.ts'
import { DUE_MS } from './state.ts'

const HOUR_MS = 3_600_000

/** Graces are short, so that few leaps are longer than they are. */
export const POLICY: PolicyChoices = {
  misfire: { graceMs: 2_000, late: 'latest', limit: 100, windowMs: 24 * HOUR_MS },
  timeout: { runMs: null, graceMs: 1_000 },
}

/** One fire, and the next one far away: what is claimed ahead has to have a next one. */
export const DEFINITION: Definition = {
  job: JOB,
  trigger: { kind: 'every', everyMs: HOUR_MS, anchor: DUE_MS },
  input: null,
  policy: POLICY,
  start: DUE_MS,
  end: null,
  limit: null,
  tenant: null,
}
