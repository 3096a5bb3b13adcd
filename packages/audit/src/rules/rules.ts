import { PRC001 } from './prc001.ts'
import type { Rule } from './rule.ts'

/** In the order of the catalogue. */
export const RULES: readonly Rule[] = [PRC001]
