import { composeReader } from './compose.ts'
import { kubernetesReader } from './kubernetes.ts'
import { procfileReader } from './procfile.ts'
import type { Reader } from './reader.ts'
import { workflowReader } from './workflow.ts'

export const READERS: readonly Reader[] = [procfileReader, kubernetesReader, workflowReader, composeReader]
