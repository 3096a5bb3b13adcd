/** The library's tests on another Node.js: `npm run test:node -- 22.18.0`, or any version or tag of the npm package `node`. */
import { spawnSync } from 'node:child_process'

const [version = '22.18.0', ...files] = process.argv.slice(2)
const tests = files.length > 0 ? files : ['packages/cronce/test/**/*.test.ts']
const node = ['exec', '--yes', `--package=node@${version}`, '--', 'node']
const { status } = spawnSync('npm', [...node, '--test', '--test-concurrency=2', ...tests], { stdio: 'inherit' })
process.exitCode = status ?? 1
