/** A file of the user interface. */
export interface BuiltAsset {
  readonly name: string
  readonly type: string
  /** Its bytes, compressed, in base64. */
  readonly gzip: string
}

export interface BuiltUi {
  readonly assets: readonly BuiltAsset[]
  readonly script: string
  readonly style: string
  readonly preload: readonly string[]
}

/** Replaced by scripts/build.ts with what it builds from the folder `ui`; only the package in `dist` has it. */
export const BUILT_UI: BuiltUi | null = null
