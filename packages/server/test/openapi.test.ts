import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { ROUTES } from '../src/routes/all.ts'
import { statusOf } from '../src/status-of.ts'
import { apiOf } from './kit.ts'

const DOCS = new URL('../../../docs/', import.meta.url)

test('the OpenAPI document is valid, and lists every route with its parts, parameters and fields', async (context) => {
  const { ask } = apiOf(context)
  const { body: document } = await ask('GET', '/openapi.json')
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  assert.equal(valid, true, JSON.stringify(errors))
  assert.equal(document.openapi, '3.1.0')
  const told = Object.entries<Record<string, Record<string, unknown>>>(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(told.sort(), ROUTES.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`).sort())
  assert.equal(new Set(ROUTES.map(({ id }) => id)).size, ROUTES.length)
  for (const { path, method, query = {}, body } of ROUTES) {
    const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]
    const names = (operation.parameters ?? []).map(({ name }: { name: string }) => name)
    for (const name of [...Object.keys(query), ...[...path.matchAll(/:(\w+)/g)].map((match) => match[1])]) {
      assert.ok(names.includes(name), `${method} ${path} does not tell ${name}`)
    }
    const fields = operation.requestBody?.content['application/json'].schema.properties
    assert.deepEqual(Object.keys(fields ?? {}), Object.keys(body ?? {}))
  }
  const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
    (match) => match[1]!,
  )
  for (const name of references) assert.ok(document.components.schemas[name], `there is no schema ${name}`)
})

test('every code that a command of the client can throw has a status', () => {
  const [, commands] = readFileSync(new URL('api.md', DOCS), 'utf8').split('| **Commands** | | |\n')
  const rows = commands!.split('\n| **')[0]!.matchAll(/^\| (`[^|]+) \|/gm)
  const codes = [...rows].flatMap(([, cell]) => [...cell!.matchAll(/`([A-Z_]+)`/g)].map((match) => match[1]!))
  assert.ok(codes.length > 30, 'the table of docs/api.md was found')
  // These are only ever reported to the logger.
  const reported = ['DEPLOYMENT_SUPERSEDED', 'RENAME_IGNORED']
  const untold = codes.filter((code) => !reported.includes(code) && statusOf(code) === null)
  assert.deepEqual(untold, [])
})

test('docs/server.md lists every route, and every code that only the server uses', () => {
  const text = readFileSync(new URL('server.md', DOCS), 'utf8')
  const source = ['answer', 'create-handler', 'kept-answers', 'origin', 'read-body', 'read-path', 'status-of']
  const files = [...source, 'events/hub', 'node/serve', 'node/to-node', 'node/to-request', 'routes/service']
  const known = readFileSync(new URL('api.md', DOCS), 'utf8')
  for (const file of files) {
    const code = readFileSync(new URL(`../src/${file}.ts`, import.meta.url), 'utf8')
    for (const [, name] of code.matchAll(/(?:'|^ {2})([A-Z]+(?:_[A-Z]+)+|INTERNAL|OVERLOADED)(?:'|: \d)/gm)) {
      assert.ok(known.includes(`\`${name}\``) || text.includes(`\`${name}\``), `${name} of ${file} is undocumented`)
    }
  }
  for (const { path } of ROUTES) assert.ok(text.includes(path.replace('/api/v1', '')), `docs/server.md lacks ${path}`)
})
