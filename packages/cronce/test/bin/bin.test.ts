import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'

const PACKAGE = resolve(import.meta.dirname, '..', '..')

/** A command that prints what it was called with. */
const CLI = 'console.log(JSON.stringify([process.argv[1], ...process.argv.slice(2)]))'

describe('the command of the package cronce', () => {
  let home: string

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'cronce-bin-'))
    for (const part of ['bin', 'package.json'])
      cpSync(join(PACKAGE, part), join(home, 'library/node_modules/cronce', part), { recursive: true })
    mkdirSync(join(home, 'project'))
  })

  afterEach(() => rmSync(home, { recursive: true, force: true }))

  test('runs the CLI that the working directory finds', () => {
    const cli = installCli('project')
    assert.deepEqual(run('list', '--json'), { status: 0, stdout: JSON.stringify([cli, 'list', '--json']), stderr: '' })
  })

  test('runs the CLI that is installed beside it', () => {
    const cli = installCli('library')
    assert.deepEqual(run('--version'), { status: 0, stdout: JSON.stringify([cli, '--version']), stderr: '' })
  })

  test('prefers the CLI of the working directory', () => {
    installCli('library')
    const cli = installCli('project')
    assert.equal(run().stdout, JSON.stringify([cli]))
  })

  test('reports what to install when there is no CLI', () => {
    const { status, stdout, stderr } = run('list', '--json')
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /^The command line of cronce is the package @cronce\/cli, which is not installed here\.\n/)
    assert.match(stderr, /`npm install --save-dev @cronce\/cli@\d+\.\d+\.\d+`/)
    assert.match(stderr, /`npx @cronce\/cli@\d+\.\d+\.\d+ list --json`/)
  })

  test('reports which Node.js it needs, before it looks for anything', () => {
    const tooOld = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})'
    const { status, stderr } = spawnSync(process.execPath, ['--import', tooOld, ...program(), 'list'], {
      cwd: join(home, 'project'),
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(stderr, /^cronce needs Node\.js 22\.18 or later, but this is 20\.20\.2\.\nInstall Node\.js 24/)
  })

  function installCli(place: 'project' | 'library'): string {
    const folder = join(home, place, 'node_modules/@cronce/cli')
    mkdirSync(join(folder, 'bin'), { recursive: true })
    const manifest = { name: '@cronce/cli', type: 'module', bin: { cronce: './bin/cronce.js' } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'bin/cronce.js'), CLI)
    return join(folder, 'bin/cronce.js')
  }

  function program(): string[] {
    return [join(home, 'library/node_modules/cronce/bin/cronce.js')]
  }

  function run(...args: string[]) {
    const options = { cwd: join(home, 'project'), encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [...program(), ...args], options)
    return { status, stdout: stdout.trim(), stderr }
  }
})
