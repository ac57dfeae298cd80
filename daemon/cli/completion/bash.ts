import type { CliCommand } from '../cli-command.ts';
import { type Candidates, optionWords, type Step, steps, valueOptions } from './steps.ts';

const quoted = (words: Candidates): string =>
  `"${words.fixed.join(' ')}${words.query ? `${words.fixed.length > 0 ? ' ' : ''}$(_svcctl_query ${words.query})` : ''}"`;

/** The patterns of a step: one for each number of arguments, the last one for all further arguments. */
const cases = ({ path, words }: Step): string[] =>
  words.map((each, index) => {
    const pattern = index === words.length - 1 ? `'${path}:'*` : `'${path}:${index}'`;
    return `    ${pattern}) words=${quoted(each)} ;;`;
  });

/** Returns the completion script for bash. The words so far select the step, and the step its candidates. */
export function bashCompletion(program: CliCommand): string {
  const all = steps(program);
  return `# Completion of svcctl for bash. Made by: svcctl completion bash
_svcctl_query() { "\${COMP_WORDS[0]}" "$@" 2>/dev/null </dev/null; }
_svcctl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  local path= args=0 skip= words= options= word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [ -n "$skip" ]; then skip=; continue; fi
    case $word in
    ${valueOptions(program).join('|')}) skip=1; continue ;;
    -*|=) continue ;;
    esac
    case "$args:\${path:+$path }$word" in
${all.map(({ path }) => (path === '' ? '' : `    '0:${path}') path='${path}' ;;\n`)).join('')}    *) args=$((args + 1)) ;;
    esac
  done
  case $prev in
${optionWords(program)
  .map(({ option, words }) => `  ${option}) words=${quoted(words)} ;;\n`)
  .join('')}  ${valueOptions(program).join('|')}|=) return ;;
  esac
  if [ -z "$words" ]; then
    case "$path" in
${all.map(({ path, options }) => `    '${path}') options='${options.map(({ long }) => long).join(' ')}' ;;\n`).join('')}    esac
    case $cur in
    -*) words=$options ;;
    *)
      case "$path:$args" in
${all.flatMap(cases).join('\n')}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  case \${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _svcctl svcctl
`;
}
