#!/usr/bin/env node
// Not built, so that it is there to be linked when the packages are installed from a checkout. In syntax that every Node.js can
// read: one that is too old gets as far as the message below.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  import('../dist/main.js')
} else {
  console.error(`cronce-audit needs Node.js 22.18 or later, but this is ${process.versions.node}.`)
  console.error('Install Node.js 24, for example with `nvm install 24`, and run the command again.')
  process.exitCode = 1
}
