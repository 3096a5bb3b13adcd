export interface IsolateOptions {
  readonly file: string | URL
  readonly isolate?: 'thread' | 'process' | undefined
  readonly memoryMb?: number | undefined
}
export const ISOLATE_NAMES = ['file', 'isolate', 'memoryMb'] as const
