import type { FileTree } from '../discover/tree.ts'
import type { Fact } from '../facts/fact.ts'
import type { Unit } from '../facts/unit.ts'
import { commandWords } from './words.ts'
import type { YamlNode } from './yaml/node.ts'
import { outline, type YamlDocument } from './yaml/outline.ts'
import { at, child, children, hasHole, isOpen, literal, nodes, words } from './yaml/query.ts'

const WORKLOADS = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Rollout'])
const MAX_FILES = 50

interface Instances {
  readonly instances: Unit['instances']
  readonly evidence: string
  readonly path: string
  readonly line: number
}

/** One unit per container, since any of them may hold the scheduler. */
export function workloadFacts(
  path: string,
  document: YamlDocument,
  object: YamlNode,
  kind: string,
  tree: FileTree,
): readonly Fact[] {
  const spec = child(document, object, 'spec')
  const containers = children(document, at(document, spec, 'template', 'spec', 'containers'))
  if (!WORKLOADS.has(kind) || spec === undefined || containers.length === 0) return []
  const name = literal(at(document, object, 'metadata', 'name'))
  const stated = instancesOf(path, document, object, kind, name, tree)
  return containers.flatMap((container): readonly Fact[] => {
    const parts = [
      ...words(document, child(document, container, 'command')),
      ...words(document, child(document, container, 'args')),
    ]
    const command = parts.length === 0 ? null : commandWords(parts.map(({ text }) => text))
    const unit: Unit = {
      kind: 'unit',
      place: { path: stated.path, line: stated.line },
      format: 'kubernetes',
      name: name ?? literal(child(document, container, 'name')) ?? '',
      instances: stated.instances,
      evidence: stated.evidence,
      command,
      entries: [],
      folder: '',
      image: child(document, container, 'image')?.value ?? null,
      build: null,
      startsBeforeStop: startsBeforeStop(document, spec, kind),
    }
    if (command === null) return [unit]
    return [unit, { kind: 'command', place: { path, line: parts[0]!.line }, words: command }]
  })
}

function instancesOf(
  path: string,
  document: YamlDocument,
  object: YamlNode,
  kind: string,
  name: string | null,
  tree: FileTree,
): Instances {
  const spec = child(document, object, 'spec')!
  const replicas = child(document, spec, 'replicas')
  const line = replicas?.line ?? object.children[0]?.line ?? object.line
  if (kind === 'DaemonSet') return { instances: 'many', evidence: 'kind: DaemonSet', path, line }
  const count = Number(literal(replicas) ?? Number.NaN)
  if (count > 1) return { instances: 'many', evidence: `replicas: ${count}`, path, line }
  const scaled = name === null ? null : autoscalerOf(path, name, tree)
  if (scaled !== null) return scaled
  const isUnknown = replicas === undefined ? isOpen(document, spec) : hasHole(replicas.value)
  if (isUnknown) return { instances: 'unstated', evidence: 'replicas of a template', path, line }
  return { instances: 'one', evidence: `replicas: ${Number.isNaN(count) ? 1 : count}`, path, line }
}

/** Looks for a HorizontalPodAutoscaler of this workload in the same folder, where manifests of one application stand. */
function autoscalerOf(path: string, name: string, tree: FileTree): Instances | null {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const isNear = (other: string) => other.startsWith(folder) && !other.slice(folder.length).includes('/')
  const near = tree.paths.filter((other) => isNear(other) && /\.ya?ml$/.test(other)).slice(0, MAX_FILES)
  for (const other of near) {
    const text = tree.text(other)
    if (text === null || !text.includes('HorizontalPodAutoscaler')) continue
    const found = outline(text).map((document) => maxReplicasOf(other, document, name))
    const scaled = found.find((candidate) => candidate !== null)
    if (scaled !== undefined) return scaled
  }
  return null
}

function maxReplicasOf(path: string, document: YamlDocument, name: string): Instances | null {
  for (const node of nodes(document)) {
    if (literal(child(document, node, 'kind')) !== 'HorizontalPodAutoscaler') continue
    const target = literal(at(document, node, 'spec', 'scaleTargetRef', 'name'))
    const max = at(document, node, 'spec', 'maxReplicas')
    if (target === name && max !== undefined && Number(literal(max)) > 1)
      return { instances: 'many', evidence: `maxReplicas: ${max.value}`, path, line: max.line }
  }
  return null
}

function startsBeforeStop(document: YamlDocument, spec: YamlNode, kind: string): boolean | null {
  if (kind === 'StatefulSet' || kind === 'DaemonSet') return false
  if (kind !== 'Deployment' && kind !== 'Rollout') return null
  const strategy = child(document, spec, 'strategy')
  if (strategy === undefined) return isOpen(document, spec) ? null : true
  const type = child(document, strategy, 'type')
  const surge = at(document, strategy, 'rollingUpdate', 'maxSurge')
  const isUnknown = [strategy, type, surge].some((node) => node !== undefined && (node.isOpen || hasHole(node.value)))
  if (isUnknown) return null
  return literal(type) !== 'Recreate' && !/^0%?$/.test(literal(surge) ?? '')
}
