/**
 * `npm run build`: what is published, in the `dist` of each package. `tsc -b` checks the types and writes declarations to `build`;
 * esbuild bundles the code, because a program that loads one file per source spends most of its start on finding files.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type BuildOptions, type Plugin as BundlerPlugin, build, transformSync } from 'esbuild'
import { type Plugin, rollup } from 'rollup'
import { userInterface } from './build-ui.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** Published as a file, because its package compiles native code when it is installed. */
const GRAMMAR = 'tree-sitter-python/tree-sitter-python.wasm'
/** Loaded first by every entry that needs Node.js, so that an older version fails with this message and no other. */
const NODE_CHECK = 'check-node'
/** Runs in browsers, too. */
const WITHOUT_NODE = ['cron']

const SHAPE = {
  charset: 'utf8',
  // Comments that begin with an exclamation mark stay: see `at-entry.ts`.
  legalComments: 'inline',
  minifyWhitespace: true,
  // Lines stay short: stack traces must be readable.
  lineLimit: 120,
} as const

const SHARED: BuildOptions = {
  ...SHAPE,
  bundle: true,
  format: 'esm',
  platform: 'node',
  // Parsed by every Node.js that is still in use: one that is too old must get as far as the message of `check-node`.
  target: 'node18',
  packages: 'external',
  // Names stay, for the same reason.
  minifySyntax: true,
  // Without the `paths` of the workspace: a package imports its siblings by name.
  tsconfigRaw: { compilerOptions: { target: 'es2024', verbatimModuleSyntax: true } },
}

/** TypeScript 7 has no compiler API, which the bundler of declarations needs. They must be valid under the oldest one anyway. */
registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-oldest' : specifier, context),
})
const { dts } = await import('rollup-plugin-dts')

/** Declarations name the sources: `./errors.ts` is declared in `./errors.d.ts`, and the `src` of another package in its `build`. */
const declarations: Plugin = {
  name: 'declarations',
  resolveId: (id, importer) =>
    importer !== undefined && id.startsWith('.')
      ? join(dirname(importer), id.replace(/^(\.\.\/\.\.\/[a-z]+)\/src\//, '$1/build/').replace(/\.[jt]s$/, '.d.ts'))
      : null,
}

/** Chunks that hold nothing else are code of one store, the client, the watchdog, the node-cron entry, or decide and never call out. */
const INNER_CODE =
  /cronce\/src\/(?:store\/(?:postgres|redis|sqlite|etcd|zookeeper|kv)\/|client\/|policy\/|watch\/|node-cron[./])/

/** Modules that most of the library uses, and that need no Node.js. */
const COMMON = /\/cronce\/src\/(?:errors|words|did-you-mean|duration|(?:model|store|trigger)\/[a-z-]+)\.ts$/

/**
 * Keeps the common modules in one chunk. esbuild makes a chunk for each set of entries that share a module, many of them tiny, and a
 * start pays half a millisecond for every file. So every other module imports all of the common ones.
 */
const together: BundlerPlugin = {
  name: 'together',
  setup({ onResolve, onLoad, initialOptions }) {
    const folder = dirname(initialOptions.outdir!)
    const common = globSync(join(folder, 'src', '**', '*.ts')).filter((file) => COMMON.test(file))
    if (common.length === 0) return
    onResolve({ filter: /^together:$/ }, ({ path }) => ({ path, namespace: 'together', sideEffects: true }))
    onLoad({ filter: /^/, namespace: 'together' }, () => ({
      contents: common.map((file) => `import ${JSON.stringify(file)}`).join('\n'),
      resolveDir: folder,
    }))
    onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
      const file = resolve(resolveDir, path)
      return COMMON.test(file) ? { path: file, sideEffects: true } : undefined
    })
    onLoad({ filter: /\.ts$/ }, ({ path }) =>
      COMMON.test(path)
        ? undefined
        : { contents: `${readFileSync(path, 'utf8')}\nimport 'together:'\n`, loader: 'ts', resolveDir: dirname(path) },
    )
  },
}

linkPackages()
execFileSync(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-b'], { cwd: ROOT, stdio: 'inherit' })
// In the order of their names: the user interface of the dashboard contains parts of packages that come before it.
for (const folder of globSync(join(ROOT, 'packages', '*')).sort()) {
  if (existsSync(join(folder, 'src'))) await buildPackage(folder)
}

/** A package that came with the last pull has no link yet: `npm ci` would make it, and every package would be installed again. */
function linkPackages(): void {
  for (const file of globSync(join(ROOT, 'packages', '*', 'package.json'))) {
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { readonly name: string }
    const link = join(ROOT, 'node_modules', name)
    if (!existsSync(link)) symlinkSync(relative(dirname(link), dirname(file)), link)
  }
}

async function buildPackage(folder: string): Promise<void> {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const entries = entriesOf(folder)
  const sources = globSync(join(folder, 'src', `{main,app/${NODE_CHECK},${entries.join()}}.ts`))
  // Entries share what they have in common, so that a class is the same class in all of them.
  await bundle(folder, sources, { splitting: true, plugins: [together, userInterface(folder)] })
  // Started by path, in a thread or process of its own: one file loads fastest, and shares nothing.
  await bundle(folder, globSync(join(folder, 'src', '**', '*-main.ts')), { splitting: false })
  for (const entry of entries) {
    if (existsSync(join(folder, 'dist', `${NODE_CHECK}.js`)) && !WITHOUT_NODE.includes(entry))
      checkNodeFirst(join(folder, 'dist', `${entry}.js`))
  }
  await bundleTypes(folder, entries)
  if (basename(folder) === 'audit')
    copyFileSync(join(ROOT, 'node_modules', GRAMMAR), join(folder, 'dist', basename(GRAMMAR)))
}

/** The entries that package.json exports: `./dist/NAME.js` is built from `src/NAME.ts`. */
function entriesOf(folder: string): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  }
  return Object.values(exports).flatMap((target) => (typeof target === 'string' ? [] : basename(target.default, '.js')))
}

async function bundle(folder: string, sources: readonly string[], options: BuildOptions): Promise<void> {
  const entryPoints = sources.map((source) => ({ in: source, out: basename(source, '.ts') }))
  const outdir = join(folder, 'dist')
  const { metafile } = await build({ ...SHARED, ...options, entryPoints, outdir, metafile: true })
  for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
    if (Object.keys(inputs).every((input) => INNER_CODE.test(input))) shortenNames(file)
  }
}

/** Local names are a fifth of that code. They are not in the traces that applications see, which begin at the call. */
function shortenNames(file: string): void {
  const { code } = transformSync(readFileSync(file, 'utf8'), { ...SHAPE, format: 'esm', minifyIdentifiers: true })
  writeFileSync(file, code)
}

function checkNodeFirst(file: string): void {
  writeFileSync(file, `import"./${NODE_CHECK}.js";\n${readFileSync(file, 'utf8')}`)
}

/** One declaration file per entry and what they share, without what no entry refers to. */
async function bundleTypes(folder: string, entries: readonly string[]): Promise<void> {
  const input = Object.fromEntries(entries.map((entry) => [entry, join(folder, 'build', `${entry}.d.ts`)]))
  const bundled = await rollup({
    input,
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    plugins: [declarations, dts()],
    // `cronce/internal` is not for applications: what its types refer to need not be importable.
    onwarn: (warning) => {
      if (!warning.message.includes('"internal.d.ts"')) throw new Error(warning.message)
    },
  })
  const { output } = await bundled.generate({
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: ({ name }) => `${name.replace(/\.d$/, '')}-[hash].d.ts`,
  })
  for (const file of output) {
    if (file.type === 'chunk') writeFileSync(join(folder, 'dist', file.fileName), withTabs(file.code))
  }
}

/** The compiler indents by four spaces, a sixth of what would be published. */
function withTabs(text: string): string {
  return text.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))
}
