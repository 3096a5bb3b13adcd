export type ServerErrorCode =
  | 'PROGRAM_MISSING'
  | 'INSTALL_FAILED'
  | 'SERVER_UNREADY'
  | 'SERVER_LINGERING'
  | 'SUPERVISOR_LOST'
  | 'COMMAND_FAILED'

/** Every error the test servers throw on purpose. Code branches on `code`; people read `message` and `hint`. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  readonly code: ServerErrorCode
  /** One imperative: what to do about it. */
  readonly hint: string | undefined

  constructor(code: ServerErrorCode, message: string, hint?: string) {
    super(hint === undefined ? message : `${message}\n${hint}`)
    this.code = code
    this.hint = hint
  }
}
