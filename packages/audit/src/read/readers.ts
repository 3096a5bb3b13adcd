import { procfileReader } from './procfile.ts'
import type { Reader } from './reader.ts'

export const READERS: readonly Reader[] = [procfileReader]
