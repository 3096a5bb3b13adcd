import type { FileTree } from '../discover/tree.ts'
import type { Fact } from '../facts/fact.ts'
import type { Unit } from '../facts/unit.ts'
import { findAll, type Node, propertyOf } from './javascript/ast.ts'
import { evaluate, numberOf, textOf } from './javascript/evaluate.ts'
import { type Module, parseModule } from './javascript/module.ts'
import { modulesOf } from './javascript/modules.ts'
import { folderOf, join } from './javascript/resolve-path.ts'
import type { Reader } from './reader.ts'
import { outline } from './yaml/outline.ts'
import { child, children, nodes } from './yaml/query.ts'

const NAME =
  /(?:^|\/)(?:[\w.-]*ecosystem[\w.-]*|[\w-]*\.?pm2[\w.-]*|process(?:es)?(?:\.config)?)\.(?:c?js|mjs|ts|json5?|ya?ml)(?:\.(?:j2|example|sample|tmpl|dist))?$/

/** Files that tell PM2 what to start. */
export const pm2Reader: Reader = {
  name: 'PM2',
  reads: (path) => NAME.test(path),
  mayHoldFacts: (text) => /\bscript\b/.test(text),
  read: ({ path, text }, tree) => {
    if (/\.ya?ml\b/.test(path)) return yamlUnits(path, text)
    // A JSON file is an expression, on the same lines.
    const isExpression = /\.json/.test(path) || /^\s*[[{]\s*(?:["'\n]|$)/.test(text)
    const plain = text.replace(/\{%.*?%\}/g, '').replace(/\{\{.*?\}\}/g, 'null')
    const script = isExpression ? `module.exports = ${plain}` : text
    return scriptUnits(parseModule(path.replace(/\.(?!c?js|mjs|ts$)\w+$/, '.js'), script), path, tree)
  },
}

interface Written {
  readonly path: string
  readonly line: number
  readonly name: string | null
  readonly script: string
  readonly folder: string | null
  readonly instances: string | null
}

function scriptUnits(module: Module, path: string, tree: FileTree): readonly Unit[] {
  const modules = modulesOf(tree)
  const apps = findAll(module.program, ({ type }) => type === 'ObjectExpression').filter((node) => isApp(node))
  return apps.flatMap((app) => {
    const value = (...names: readonly string[]) => {
      const node = propertyOf(app, ...names)
      return node === null ? null : evaluate(modules, module, node)
    }
    const script = textOf(value('script') ?? { kind: 'unknown' })
    if (script === null) return []
    const stated = propertyOf(app, 'instances')
    const count = value('instances')
    const known = count === null ? null : (textOf(count) ?? numberOf(count))
    const written = {
      path,
      line: module.lineOf(stated ?? app),
      name: textOf(value('name') ?? { kind: 'unknown' }),
      script,
      folder: textOf(value('cwd') ?? { kind: 'unknown' }),
      instances: stated === null ? null : (known ?? module.text.slice(stated.start, stated.end)),
    }
    return [unitOf({ ...written, instances: written.instances === null ? null : String(written.instances) })]
  })
}

function isApp(node: Node): boolean {
  const hasScript = propertyOf(node, 'script') !== null
  return (
    hasScript &&
    ['name', 'instances', 'exec_mode', 'env', 'watch', 'cwd', 'args'].some((key) => propertyOf(node, key) !== null)
  )
}

function yamlUnits(path: string, text: string): readonly Fact[] {
  return outline(text).flatMap((document) =>
    [...nodes(document)].flatMap((node): readonly Fact[] => {
      const value = (key: string) => child(document, node, key)?.value ?? null
      const script = node.key === null ? value('script') : null
      if (script === null || children(document, node).length === 0) return []
      const line = child(document, node, 'instances')?.line ?? node.line
      return [unitOf({ path, line, name: value('name'), script, folder: value('cwd'), instances: value('instances') })]
    }),
  )
}

function unitOf({ path, line, name, script, folder, instances }: Written): Unit {
  const here = folderOf(path)
  const isRelative = folder !== null && !/^(?:\/|~|\$|\{\{)/.test(folder)
  const cwd = isRelative ? join(here, folder) : here
  const isFile = /\.[cm]?[jt]s$|\.py$|^\.{0,2}\//.test(script) && !/\s/.test(script)
  return {
    kind: 'unit',
    place: { path, line },
    format: 'pm2',
    name: name ?? script,
    instances: instances === null ? 'one' : countOf(instances),
    evidence: `instances: ${instances ?? 1}`,
    command: isFile ? null : script.split(/\s+/),
    entries: isFile ? [join(cwd, script)] : [],
    folder: cwd,
    image: null,
    build: null,
    startsBeforeStop: null,
  }
}

/** 0, `max` and negative numbers are counted from the cores. */
function countOf(text: string): Unit['instances'] {
  if (/^['"]?(?:max|0)['"]?$/.test(text) || /^['"]?-\d+['"]?$/.test(text)) return 'many'
  if (/\bcpus\(\)|\bavailableParallelism\(\)/.test(text)) return 'many'
  const count = Number(text.replace(/['"]/g, ''))
  if (Number.isNaN(count)) return 'unstated'
  return count > 1 ? 'many' : 'one'
}
