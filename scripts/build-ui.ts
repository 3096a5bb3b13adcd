/** The user interface of the dashboard, bundled for browsers and placed into its package as text: no file is read when it is served. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Plugin as BundlerPlugin, build, type Metafile } from 'esbuild'

export interface BuiltAsset {
  /** Such as `main-1A2B3C4D.js`. */
  readonly name: string
  readonly type: string
  /** Its bytes, compressed, in base64. */
  readonly gzip: string
}

export interface BuiltUi {
  readonly assets: readonly BuiltAsset[]
  readonly script: string
  readonly style: string
  /** Chunks that the script imports at once. */
  readonly preload: readonly string[]
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Replaces `src/built-ui.ts`, which is empty, by what was built. Other packages have no such file. */
export function userInterface(folder: string): BundlerPlugin {
  return {
    name: 'user-interface',
    setup({ onLoad }) {
      onLoad({ filter: /\/dashboard\/src\/built-ui\.ts$/ }, async () => ({
        contents: `export const BUILT_UI = ${JSON.stringify(await buildUi(folder))}`,
        loader: 'js',
      }))
    },
  }
}

/** The names contain a hash, so browsers may keep them for ever. */
export async function buildUi(folder: string): Promise<BuiltUi> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(folder, 'ui', 'main.tsx')],
    outdir: join(folder, 'dist', 'ui'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome111', 'firefox114', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    write: false,
    tsconfigRaw: { compilerOptions: { target: 'es2022', verbatimModuleSyntax: true } },
  })
  const assets = outputFiles.map(({ path, contents }) => assetOf(path.split('/').at(-1)!, contents))
  return { assets, ...entryOf(metafile) }
}

function assetOf(name: string, contents: Uint8Array): BuiltAsset {
  const type = TYPES[name.split('.').at(-1)!] ?? 'application/octet-stream'
  return { name, type, gzip: gzipSync(contents, { level: 9 }).toString('base64') }
}

function entryOf({ outputs }: Metafile): Omit<BuiltUi, 'assets'> {
  const nameOf = (path: string): string => path.split('/').at(-1)!
  const [path, main] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith('main.tsx') === true)!
  const preload = main.imports.filter(({ kind }) => kind === 'import-statement').map((one) => nameOf(one.path))
  return { script: nameOf(path), style: nameOf(main.cssBundle!), preload }
}
