import type { CliCommand } from '../cli-command.ts';
import { type Candidates, optionWords, type Step, steps, valueOptions } from './steps.ts';

const assignment = ({ fixed, query }: Candidates): string => {
  const live = query ? `\${(f)"$(_svcctl_query ${query})"}` : '';
  return `candidates=(${[...fixed.map((word) => `'${word}'`), live].filter((part) => part !== '').join(' ')})`;
};

const cases = ({ path, words }: Step): string[] =>
  words.map((each, index) => {
    const pattern = index === words.length - 1 ? `'${path}:'*` : `'${path}:${index}'`;
    return `    ${pattern}) ${assignment(each)} ;;`;
  });

/** Returns the completion script for zsh, with the steps and candidates of bash. */
export function zshCompletion(program: CliCommand): string {
  const all = steps(program);
  return `#compdef svcctl
# Completion of svcctl for zsh. Made by: svcctl completion zsh
_svcctl_query() { "$words[1]" "$@" 2>/dev/null </dev/null }
_svcctl() {
  local cur=$words[CURRENT] prev=$words[CURRENT-1] cmd= word
  local -i args=0 skip=0 i
  local -a candidates options
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if ((skip)); then skip=0; continue; fi
    case $word in
    ${valueOptions(program).join('|')}) skip=1; continue ;;
    -*) continue ;;
    esac
    case "$args:\${cmd:+$cmd }$word" in
${all.map(({ path }) => (path === '' ? '' : `    '0:${path}') cmd='${path}' ;;\n`)).join('')}    *) ((args++)) ;;
    esac
  done
  case $prev in
${optionWords(program)
  .map(({ option, words }) => `  ${option}) ${assignment(words)}; compadd -a candidates; return ;;\n`)
  .join('')}  ${valueOptions(program).join('|')}) return ;;
  esac
  case "$cmd" in
${all.map(({ path, options }) => `  '${path}') options=(${options.map(({ long }) => long).join(' ')}) ;;\n`).join('')}  esac
  if [[ $cur == -* ]]; then compadd -a options; return; fi
  case "$cmd:$args" in
${all.flatMap(cases).join('\n')}
  esac
  if [[ $candidates[1] == *= ]]; then compadd -S '' -a candidates; else compadd -a candidates; fi
}
if [[ $funcstack[1] == _svcctl ]]; then _svcctl; else compdef _svcctl svcctl; fi
`;
}
