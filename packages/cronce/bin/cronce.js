#!/usr/bin/env node
// `npx cronce` where only the library is installed: runs @cronce/cli if it can be found, and otherwise says what to install.
// Not built, and in syntax that every Node.js can read: one that is too old gets as far as the message below.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [major, minor] = process.versions.node.split('.').map(Number)
const bin = findCli()
if (major < 22 || (major === 22 && minor < 18)) {
  fail([
    `cronce needs Node.js 22.18 or later, but this is ${process.versions.node}.`,
    'Install Node.js 24, for example with `nvm install 24`, and run the command again.',
  ])
} else if (bin === null) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const command = ['npx', `@cronce/cli@${version}`, ...process.argv.slice(2)].join(' ')
  fail([
    'The command line of cronce is the package @cronce/cli, which is not installed here.',
    `Install it with \`npm install --save-dev @cronce/cli@${version}\`, or run it once with \`${command}\`.`,
  ])
} else {
  // As if npm had linked the command of @cronce/cli: `cronce dev` starts this file again.
  process.argv[1] = bin
  import(pathToFileURL(bin).href)
}

/** The program of @cronce/cli, as the working directory or this package finds it. */
function findCli() {
  for (const place of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      const manifest = createRequire(place).resolve('@cronce/cli/package.json')
      return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.cronce)
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  return null
}

function fail(lines) {
  console.error(lines.join('\n'))
  process.exitCode = 1
}
