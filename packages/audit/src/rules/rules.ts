import { CFG001 } from './cfg001.ts'
import { CRN001 } from './crn001.ts'
import { CRN002 } from './crn002.ts'
import { CRN003 } from './crn003.ts'
import { CRN004 } from './crn004.ts'
import { CRN005 } from './crn005.ts'
import { CRN006 } from './crn006.ts'
import { CRN007 } from './crn007.ts'
import { CRN008 } from './crn008.ts'
import { CRN010 } from './crn010.ts'
import { DEP001 } from './dep001.ts'
import { DST001 } from './dst001.ts'
import { DST002 } from './dst002.ts'
import { DST003 } from './dst003.ts'
import { ERR001 } from './err001.ts'
import { ERR002 } from './err002.ts'
import { FILE_RULES } from './file-rules.ts'
import { FLT001 } from './flt001.ts'
import { FLT002 } from './flt002.ts'
import { FLT003 } from './flt003.ts'
import { FLT004 } from './flt004.ts'
import { FLT005 } from './flt005.ts'
import { FLT006 } from './flt006.ts'
import { FLT007 } from './flt007.ts'
import { FLT008 } from './flt008.ts'
import { FLT009 } from './flt009.ts'
import { FLT010 } from './flt010.ts'
import { HND001 } from './hnd001.ts'
import { IDM001 } from './idm001.ts'
import { MIS001 } from './mis001.ts'
import { MIS003 } from './mis003.ts'
import { MIS005 } from './mis005.ts'
import { OVL001 } from './ovl001.ts'
import { OVL002 } from './ovl002.ts'
import { OVL003 } from './ovl003.ts'
import { PRC001 } from './prc001.ts'
import type { Rule } from './rule.ts'
import { SHD001 } from './shd001.ts'
import { SHD002 } from './shd002.ts'
import { SLS001 } from './sls001.ts'
import { SLS002 } from './sls002.ts'
import { SLS004 } from './sls004.ts'
import { TMR001 } from './tmr001.ts'
import { TMR002 } from './tmr002.ts'

/** In the order of the catalogue. */
export const RULES: readonly Rule[] = [
  FLT001,
  FLT002,
  FLT003,
  FLT004,
  FLT005,
  FLT006,
  FLT007,
  FLT008,
  FLT009,
  FLT010,
  OVL001,
  OVL002,
  OVL003,
  HND001,
  ERR001,
  ERR002,
  MIS001,
  MIS003,
  MIS005,
  PRC001,
  DEP001,
  CRN001,
  CRN002,
  CRN003,
  CRN004,
  CRN005,
  CRN006,
  CRN007,
  CRN008,
  CRN010,
  DST001,
  DST002,
  DST003,
  TMR001,
  TMR002,
  SLS001,
  SLS002,
  SLS004,
  IDM001,
  CFG001,
  SHD001,
  SHD002,
  ...FILE_RULES,
]
