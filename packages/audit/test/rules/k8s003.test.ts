import { K8S003 } from '../../src/rules/k8s003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(K8S003, { bad: {}, good: {} })
