import { keyOf, type Node, nameOf, unwrap } from './ast.ts'
import { type ImportBinding, importOf, type Module, requiredModule } from './module.ts'

/**
 * What a callee means in terms of imports: `cron.schedule` is `schedule` of 'node-cron', `new Cron()` is `Cron` of 'croner'.
 * A module that is called itself is `default`.
 */
export function importedMember(module: Module, written: Node): ImportBinding | null {
  const node = unwrap(written)
  if (node.type === 'Identifier') {
    const binding = importOf(module, node)
    return binding === null ? null : { from: binding.from, name: binding.name === '*' ? 'default' : binding.name }
  }
  const required = requiredModule(node)
  if (required !== null) return { from: required, name: 'default' }
  if (node.type !== 'MemberExpression') return null
  const object = importedMember(module, node.object!)
  const key = keyOf(node)
  if (object === null || key === null) return null
  // `ns.default.schedule`, `cron.CronJob.from`.
  if (object.name === 'default') return { from: object.from, name: key }
  return { from: object.from, name: `${object.name}.${key}` }
}

export function lastName(node: Node): string | null {
  const callee = unwrap(node)
  return callee.type === 'MemberExpression' ? keyOf(callee) : nameOf(callee)
}
