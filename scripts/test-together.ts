/** The test files that are named, in this one process: hundreds of small files cost more to load than to run. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href)
