import { APS001 } from './aps001.ts'
import { APS002 } from './aps002.ts'
import { APS003 } from './aps003.ts'
import { APS004 } from './aps004.ts'
import { APS005 } from './aps005.ts'
import { APS006 } from './aps006.ts'
import { CEL001 } from './cel001.ts'
import { CTB001 } from './ctb001.ts'
import { CTB002 } from './ctb002.ts'
import { CTB003 } from './ctb003.ts'
import { CTB004 } from './ctb004.ts'
import { CTB005 } from './ctb005.ts'
import { CTB006 } from './ctb006.ts'
import { CTB008 } from './ctb008.ts'
import { CTB009 } from './ctb009.ts'
import { DEP002 } from './dep002.ts'
import { GHA001 } from './gha001.ts'
import { K8S001 } from './k8s001.ts'
import { K8S002 } from './k8s002.ts'
import { K8S003 } from './k8s003.ts'
import { K8S004 } from './k8s004.ts'
import { K8S005 } from './k8s005.ts'
import { K8S008 } from './k8s008.ts'
import { K8S009 } from './k8s009.ts'
import { MIS002 } from './mis002.ts'
import { MIS004 } from './mis004.ts'
import type { Rule } from './rule.ts'
import { SEC001 } from './sec001.ts'
import { SYS001 } from './sys001.ts'
import { SYS002 } from './sys002.ts'

/** Rules about Python modules, manifests, crontabs and scripts, in the order of the catalogue. */
export const FILE_RULES: readonly Rule[] = [
  APS001,
  APS002,
  APS003,
  APS004,
  APS005,
  APS006,
  CEL001,
  DEP002,
  K8S001,
  K8S002,
  K8S003,
  K8S004,
  K8S005,
  K8S008,
  K8S009,
  MIS002,
  MIS004,
  CTB001,
  CTB002,
  CTB003,
  CTB004,
  CTB005,
  CTB006,
  CTB008,
  CTB009,
  SYS001,
  SYS002,
  GHA001,
  SEC001,
]
