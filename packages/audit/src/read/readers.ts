import { composeReader } from './compose.ts'
import { crontabReader } from './crontab.ts'
import { kubernetesReader } from './kubernetes.ts'
import { procfileReader } from './procfile.ts'
import { pythonReader } from './python/python.ts'
import type { Reader } from './reader.ts'
import { shellReader } from './shell/shell.ts'
import { systemdReader } from './systemd.ts'
import { workflowReader } from './workflow.ts'

export const READERS: readonly Reader[] = [
  procfileReader,
  kubernetesReader,
  workflowReader,
  composeReader,
  pythonReader,
  crontabReader,
  shellReader,
  systemdReader,
]
