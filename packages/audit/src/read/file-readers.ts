import { composeReader } from './compose.ts'
import { crontabReader } from './crontab.ts'
import { kubernetesReader } from './kubernetes.ts'
import { pythonReader } from './python/python.ts'
import type { Reader } from './reader.ts'
import { shellReader } from './shell/shell.ts'
import { systemdReader } from './systemd.ts'
import { workflowReader } from './workflow.ts'

/** Readers of Python modules, manifests, crontabs and scripts. */
export const FILE_READERS: readonly Reader[] = [
  kubernetesReader,
  workflowReader,
  composeReader,
  pythonReader,
  crontabReader,
  shellReader,
  systemdReader,
]
