import { K8S005 } from '../../src/rules/k8s005.ts'
import { checkRule } from '../check-rule.ts'

checkRule(K8S005, { bad: {}, good: {} })
