import { FILE_READERS } from './file-readers.ts'
import { javascriptReader } from './javascript/javascript.ts'
import { processHookReader } from './process-hooks.ts'
import { procfileReader } from './procfile.ts'
import type { Reader } from './reader.ts'

export const READERS: readonly Reader[] = [javascriptReader, processHookReader, procfileReader, ...FILE_READERS]
