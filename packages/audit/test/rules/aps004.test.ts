import { APS004 } from '../../src/rules/aps004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(APS004, { bad: {}, good: {} })
