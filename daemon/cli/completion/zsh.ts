import type { Command } from '../command.ts';
import { type Candidates, optionWords, type Step, steps, valueOptions } from './steps.ts';

const given = ({ fixed, query }: Candidates): string => {
  const live = query ? `\${(f)"$(_svcctl_ask ${query})"}` : '';
  return `offers=(${[...fixed.map((word) => `'${word}'`), live].filter((part) => part !== '').join(' ')})`;
};

const cases = ({ path, words }: Step): string[] =>
  words.map((each, index) => {
    const pattern = index === words.length - 1 ? `'${path}:'*` : `'${path}:${index}'`;
    return `    ${pattern}) ${given(each)} ;;`;
  });

/** Completion for zsh; the same places and words as for bash. */
export function zshCompletion(commands: readonly Command[]): string {
  const all = steps(commands);
  return `#compdef svcctl
# Completion of svcctl for zsh. Made by: svcctl completion zsh
_svcctl_ask() { "$words[1]" "$@" 2>/dev/null </dev/null }
_svcctl() {
  local cur=$words[CURRENT] prev=$words[CURRENT-1] at= word
  local -i args=0 skip=0 i
  local -a offers options
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if ((skip)); then skip=0; continue; fi
    case $word in
    ${valueOptions().join('|')}) skip=1; continue ;;
    -*) continue ;;
    esac
    case "$args:\${at:+$at }$word" in
${all.map(({ path }) => (path === '' ? '' : `    '0:${path}') at='${path}' ;;\n`)).join('')}    *) ((args++)) ;;
    esac
  done
  case $prev in
${optionWords()
  .map(({ option, words }) => `  ${option}) ${given(words)}; compadd -a offers; return ;;\n`)
  .join('')}  ${valueOptions().join('|')}) return ;;
  esac
  case "$at" in
${all.map(({ path, options }) => `  '${path}') options=(${options.map((name) => `--${name}`).join(' ')}) ;;\n`).join('')}  esac
  if [[ $cur == -* ]]; then compadd -a options; return; fi
  case "$at:$args" in
${all.flatMap(cases).join('\n')}
  esac
  if [[ $offers[1] == *= ]]; then compadd -S '' -a offers; else compadd -a offers; fi
}
if [[ $funcstack[1] == _svcctl ]]; then _svcctl; else compdef _svcctl svcctl; fi
`;
}
