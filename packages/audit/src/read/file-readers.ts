import { composeReader } from './compose.ts'
import { crontabReader } from './crontab.ts'
import { dockerfileReader } from './dockerfile.ts'
import { kubernetesReader } from './kubernetes.ts'
import { terraformReader, vercelReader, wranglerReader } from './platform-crons.ts'
import { pm2Reader } from './pm2.ts'
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
  dockerfileReader,
  pm2Reader,
  vercelReader,
  wranglerReader,
  terraformReader,
]
