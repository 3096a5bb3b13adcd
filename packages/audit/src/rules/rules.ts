import { CEL001 } from './cel001.ts'
import { GHA001 } from './gha001.ts'
import { K8S001 } from './k8s001.ts'
import { K8S002 } from './k8s002.ts'
import { K8S003 } from './k8s003.ts'
import { K8S004 } from './k8s004.ts'
import { K8S005 } from './k8s005.ts'
import { K8S008 } from './k8s008.ts'
import { K8S009 } from './k8s009.ts'
import { MIS002 } from './mis002.ts'
import { PRC001 } from './prc001.ts'
import type { Rule } from './rule.ts'

/** In the order of the catalogue. */
export const RULES: readonly Rule[] = [
  CEL001,
  PRC001,
  K8S001,
  K8S002,
  K8S003,
  K8S004,
  K8S005,
  K8S008,
  K8S009,
  MIS002,
  GHA001,
]
