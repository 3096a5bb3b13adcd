/** There was no answer. `connecting`: nothing of the request has left this process. `sent`: it may have reached the server. */
export class CallLost extends Error {
  readonly progress: 'connecting' | 'sent'

  constructor(progress: 'connecting' | 'sent', message: string, cause?: unknown) {
    super(message, { cause })
    this.progress = progress
  }
}
