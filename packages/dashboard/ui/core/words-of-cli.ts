/** The command line and the dashboard say the same in the same words. */
export { policyWords } from '../../../cli/src/policy-words.ts'
export { triggerWords } from '../../../cli/src/trigger-words.ts'
