import { K8S009 } from '../../src/rules/k8s009.ts'
import { checkRule } from '../check-rule.ts'

checkRule(K8S009, { bad: {}, good: {} })
