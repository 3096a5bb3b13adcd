import type { Fact } from '../facts/fact.ts'
import type { Unit } from '../facts/unit.ts'
import type { Reader } from './reader.ts'
import { commandWords } from './words.ts'
import type { YamlNode } from './yaml/node.ts'
import { outline, type YamlDocument } from './yaml/outline.ts'
import { at, child, children, hasHole, literal, words } from './yaml/query.ts'

/** Files of docker compose and Swarm stacks. */
export const composeReader: Reader = {
  name: 'compose',
  reads: (path) => /\.ya?ml(?:\.(?:j2|tmpl|example|dist))?$/.test(path),
  mayHoldFacts: (text) => /^services:/m.test(text),
  read: ({ path, text }) =>
    outline(text).flatMap((document) =>
      children(document, child(document, document.root, 'services'))
        .filter((service) => isService(document, service))
        .flatMap((service) => serviceFacts(path, document, service)),
    ),
}

const SERVICE_KEYS = ['image', 'build', 'command', 'deploy', 'environment', 'depends_on', 'volumes', 'ports']

function isService(document: YamlDocument, service: YamlNode): boolean {
  return service.key !== null && SERVICE_KEYS.some((key) => child(document, service, key) !== undefined)
}

function serviceFacts(path: string, document: YamlDocument, service: YamlNode): readonly Fact[] {
  const parts = [
    ...words(document, child(document, service, 'entrypoint')),
    ...words(document, child(document, service, 'command')),
  ]
  const command = parts.length === 0 ? null : commandWords(parts.map(({ text }) => text))
  const { line, evidence, instances } = instancesOf(document, service)
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const unit: Unit = {
    kind: 'unit',
    place: { path, line },
    format: 'compose',
    name: service.key ?? '',
    instances,
    evidence,
    command,
    entries: [],
    folder: folder.slice(0, -1),
    image: literal(child(document, service, 'image')),
    build: buildOf(document, service, folder),
    startsBeforeStop: startsBeforeStop(document, service),
  }
  if (command === null) return [unit]
  return [unit, { kind: 'command', place: { path, line: parts[0]!.line }, words: command }]
}

function instancesOf(
  document: YamlDocument,
  service: YamlNode,
): Pick<Unit, 'instances' | 'evidence'> & { line: number } {
  const mode = at(document, service, 'deploy', 'mode')
  if (literal(mode) === 'global') return { instances: 'many', evidence: 'mode: global', line: mode!.line }
  const replicas = at(document, service, 'deploy', 'replicas') ?? child(document, service, 'scale')
  if (replicas === undefined) return { instances: 'one', evidence: 'one replica by default', line: service.line }
  const text = withDefault(replicas.value ?? '')
  const evidence = `${replicas.key}: ${replicas.value}`
  if (!/^\d+$/.test(text)) return { instances: 'unstated', evidence, line: replicas.line }
  return { instances: Number(text) > 1 ? 'many' : 'one', evidence, line: replicas.line }
}

/** `${NAME:-3}` is 3 unless the operator says otherwise. */
function withDefault(text: string): string {
  return /^\$\{\w+:?-([^}]*)\}$/.exec(text)?.[1] ?? text
}

function buildOf(document: YamlDocument, service: YamlNode, folder: string): string | null {
  const build = child(document, service, 'build')
  const context = literal(child(document, build, 'context') ?? build)
  if (context === null || /^[a-z]+:\/\//.test(context)) return null
  const parts: string[] = []
  for (const part of `${folder}${context}`.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

function startsBeforeStop(document: YamlDocument, service: YamlNode): boolean | null {
  const order = at(document, service, 'deploy', 'update_config', 'order')
  if (order === undefined) return at(document, service, 'deploy') === undefined ? null : false
  return hasHole(order.value) ? null : order.value === 'start-first'
}
