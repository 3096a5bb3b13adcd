export const SHELLS = ['bash', 'zsh', 'fish', 'pwsh'] as const
export type Shell = (typeof SHELLS)[number]

/** The hidden command that answers what may come next, one word a line, with its meaning behind a tab. */
export const COMPLETE = '__complete'

/** Thin: everything is asked of cronce, so that scripts need no update with it. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell]
}

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion of cronce
_cronce() {
  local IFS=$'\\n' line
  COMPREPLY=()
  while read -r line; do
    COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")")
  done < <(cronce ${COMPLETE} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  # A colon ends a word for bash: what stands before it is on the command line already.
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "\${COMP_WORDS[COMP_CWORD]}"; fi
}
complete -o default -F _cronce cronce
`,
  zsh: `#compdef cronce
# zsh completion of cronce
_cronce() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(cronce ${COMPLETE} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe -t cronce cronce found; else _files; fi
}
compdef _cronce cronce
`,
  fish: `# fish completion of cronce
function __cronce_complete
  set -l words (commandline -opc) (commandline -ct)
  cronce ${COMPLETE} -- $words[2..-1] 2>/dev/null
end
complete -c cronce -f -a '(__cronce_complete)'
`,
  pwsh: `# PowerShell completion of cronce
Register-ArgumentCompleter -Native -CommandName cronce -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '""' }
  cronce ${COMPLETE} -- @words 2>$null | ForEach-Object {
    $word, $meaning = $_ -split "\`t", 2
    if (-not $meaning) { $meaning = $word }
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $meaning)
  }
}
`,
}
