/** No function of the published packages is longer than `MOST_LINES` or branches more than `MOST_BRANCHES` times. */
import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript-oldest'

const MOST_LINES = 70
const MOST_BRANCHES = 12
/** Branch too much, and still have to be divided. No other function may join them. */
const LEFT = new Set([
  'packages/checker/src/fleet.ts hitsByNode',
  'packages/cli/src/notes.ts dayNotes',
  'packages/cli/src/time-words.ts readTime',
  'packages/cli/src/zone-marks.ts markOf',
  'packages/server/src/options.ts resolveOptions',
  'packages/server/src/overview.ts attentionOf',
])
/** A suite of the conformance tests is one function that holds many tests. */
const SUITES = 'packages/cronce/src/testing/conformance/'

interface Measured {
  readonly name: string
  readonly file: string
  readonly line: number
  readonly lines: number
  branches: number
}

const LOGICAL = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
])

function isBranch(node: ts.Node): boolean {
  switch (node.kind) {
    case ts.SyntaxKind.IfStatement:
    case ts.SyntaxKind.ConditionalExpression:
    case ts.SyntaxKind.CaseClause:
    case ts.SyntaxKind.CatchClause:
    case ts.SyntaxKind.ForStatement:
    case ts.SyntaxKind.ForOfStatement:
    case ts.SyntaxKind.ForInStatement:
    case ts.SyntaxKind.WhileStatement:
    case ts.SyntaxKind.DoStatement:
      return true
    default:
      return ts.isBinaryExpression(node) && LOGICAL.has(node.operatorToken.kind)
  }
}

/** A branch counts for the innermost function around it; lines count for all of them. */
function measure(file: string): Measured[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1
  const found: Measured[] = []
  const visit = (node: ts.Node, around: Measured | null): void => {
    let inside = around
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = lineOf(node.getStart())
      inside = { name: nameOf(node), file, line: first, lines: lineOf(node.end) - first + 1, branches: 0 }
      found.push(inside)
    }
    if (inside !== null && isBranch(node)) inside.branches++
    ts.forEachChild(node, (child) => visit(child, inside))
  }
  visit(source, null)
  return found
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined)
  return named?.getText() ?? 'a function without a name'
}

const files = globSync(['packages/*/src/**/*.ts', 'packages/dashboard/ui/**/*.{ts,tsx}']).filter(
  (file) => !file.startsWith(SUITES),
)
const measured = files.flatMap(measure).filter(({ file, name }) => !LEFT.has(`${file} ${name}`))
const problems = measured.flatMap(({ name, file, line, lines, branches }) => [
  ...(lines > MOST_LINES ? [`${file}:${line}: ${name} has ${lines} lines, more than ${MOST_LINES}`] : []),
  ...(branches > MOST_BRANCHES
    ? [`${file}:${line}: ${name} has ${branches} branches, more than ${MOST_BRANCHES}`]
    : []),
])
for (const problem of problems) console.error(problem)
console.log(`${files.length} files, ${problems.length} functions that are too long or branch too much`)
process.exitCode = problems.length > 0 ? 1 : 0
