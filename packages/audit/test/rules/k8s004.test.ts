import { K8S004 } from '../../src/rules/k8s004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(K8S004, { bad: {}, good: {} })
