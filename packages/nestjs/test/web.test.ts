import { after } from 'node:test'
import { judgeWeb } from './judge-web.ts'
import { scratchFolder } from './kit.ts'

const scratch = scratchFolder()
after(() => scratch.remove())
judgeWeb(scratch.path)
