import type { Unit } from '../../facts/unit.ts'
import { findAll, isCall, type Node, nameOf, pathOf } from './ast.ts'
import { importedMember } from './imported.ts'
import type { Module } from './module.ts'
import type { Modules } from './modules.ts'
import { folderOf } from './resolve-path.ts'

/** `cluster.fork()`: the file itself is started once per worker, or the file that `setupPrimary` names. */
export function clusterUnits(modules: Modules, module: Module): Unit[] {
  const forks = findAll(module.program, isCall).filter((node) => isFork(module, node))
  const [fork] = forks
  if (fork === undefined) return []
  const executed = executedFile(module)
  const entry =
    executed === null
      ? module.path
      : modules.resolvePath(module.path, executed.startsWith('.') ? executed : `./${executed}`)
  return [
    {
      kind: 'unit',
      place: { path: module.path, line: module.lineOf(fork) },
      format: 'cluster',
      name: module.path,
      instances: 'many',
      evidence: 'cluster.fork()',
      command: null,
      entries: entry === null ? [] : [entry],
      folder: folderOf(module.path),
      image: null,
      build: null,
      startsBeforeStop: null,
    },
  ]
}

function isFork(module: Module, node: Node): boolean {
  const binding = importedMember(module, node.callee!)
  return binding !== null && /^(?:node:)?cluster$/.test(binding.from) && binding.name === 'fork'
}

function executedFile(module: Module): string | null {
  for (const node of findAll(module.program, isCall)) {
    if (!/^setup(?:Primary|Master)$/.test(pathOf(node.callee!).at(-1)!)) continue
    const options = node.arguments?.[0]
    const exec = options?.properties?.find(({ key }) => nameOf(key) === 'exec')
    return nameOf(exec?.value as Node | undefined)
  }
  return null
}
