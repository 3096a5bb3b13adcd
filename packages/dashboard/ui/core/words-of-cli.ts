/** The command line and the dashboard say the same in the same words. */
export { asCode } from '../../../cli/src/as-code.ts'
export { definitionOf } from '../../../cli/src/definition-of.ts'
export { policyWords } from '../../../cli/src/policy-words.ts'
export { triggerWords } from '../../../cli/src/trigger-words.ts'
