import { join } from 'node:path'
// TypeScript 7 has no compiler API.
import ts from 'typescript-5.9'

const ROOT = join(import.meta.dirname, '..', '..')
/** What applications import; `cronce/internal` is not for them. */
const ENTRIES = [
  ...[
    'index',
    'check-in',
    'cron',
    'etcd',
    'memory',
    'metrics',
    'node-cron',
    'otel',
    'postgres',
    'redis',
    'signature',
    'sqlite',
    'testing',
    'zookeeper',
  ].map((entry) => `packages/cronce/src/${entry}.ts`),
  'packages/conformance/src/index.ts',
  'packages/dashboard/src/index.ts',
  'packages/server/src/index.ts',
]

/** Exports of the public entries that no comment explains: editors show nothing about them. */
export function undocumentedExports(): readonly string[] {
  const files = ENTRIES.map((entry) => join(ROOT, entry))
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: ['node'],
  })
  const checker = program.getTypeChecker()
  return files.flatMap((file, index) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!
    const undocumented = checker.getExportsOfModule(module).filter((symbol) => !isDocumented(checker, symbol))
    return undocumented.map(({ name }) => `${ENTRIES[index]}: ${name} has no comment`)
  })
}

function isDocumented(checker: ts.TypeChecker, exported: ts.Symbol): boolean {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  return symbol.getDocumentationComment(checker).length > 0 || isDocumentedMember(checker, symbol)
}

/** `export const { a } = object`: the comment is that of the member. */
function isDocumentedMember(checker: ts.TypeChecker, symbol: ts.Symbol): boolean {
  const declaration = symbol.declarations?.[0]
  if (declaration === undefined || !ts.isBindingElement(declaration)) return false
  const member = checker.getTypeAtLocation(declaration.parent).getProperty(symbol.name)
  return (member?.getDocumentationComment(checker).length ?? 0) > 0
}
