import type { Args } from '../args.ts'
import { COMPLETE, completionScript, SHELLS, type Shell } from '../completion/scripts.ts'
import type { Io } from '../io.ts'
import { suggestion, UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const completion: Command = {
  operands: `<${SHELLS.join('|')}>`,
  examples: [
    ['source <(cronce completion bash)', 'in ~/.bashrc'],
    ['source <(cronce completion zsh)', 'in ~/.zshrc, after compinit'],
    ['cronce completion fish > ~/.config/fish/completions/cronce.fish', 'for fish'],
    ['cronce completion pwsh | Out-String | Invoke-Expression', 'in $PROFILE'],
  ],
  about: `The script asks cronce itself (${COMPLETE}), so it knows the commands of the version that is installed, and the\nnames of schedules in the store of the environment or the configuration.`,
  flags: {},
  run: runCompletion,
}

function runCompletion(args: Args, io: Io): number {
  const [given, ...more] = args.positionals
  const shell = SHELLS.find((known) => known === given)
  if (shell === undefined || more.length > 0) {
    const what =
      given === undefined ? 'For which shell?' : `There is no completion for "${given}".${suggestion(given, SHELLS)}`
    throw new UsageError(what, `Choose one of: ${SHELLS.join(', ')}.`)
  }
  io.out(completionScript(shell satisfies Shell))
  return 0
}
