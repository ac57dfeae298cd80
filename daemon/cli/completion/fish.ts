import type { Command } from '../command.ts';
import { optionRow } from '../options.ts';
import { type Candidates, type Step, steps, valueOptions } from './steps.ts';

const text = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const offers = ({ fixed, query }: Candidates): string =>
  [...fixed, ...(query ? [`(svcctl ${query} 2>/dev/null </dev/null)`] : [])].join(' ');

function lines({ path, words, options }: Step): string[] {
  const arguments_ = words.flatMap((each, index) => {
    const last = index === words.length - 1 ? 'on' : 'at';
    const what = offers(each);
    if (what === '') return [];
    return [`complete -c svcctl -n "__svcctl_${last} ${index} ${text(path)}" -a ${text(what)}`];
  });
  const flags = options.map((name) => {
    const { help, short, type, words: few } = optionRow(name);
    const value = type === 'string' ? ` -x${few ? ` -a ${text(few.join(' '))}` : ''}` : '';
    const letter = short ? ` -s ${short}` : '';
    return `complete -c svcctl -n "__svcctl_on 0 ${text(path)}" -l ${name}${letter}${value} -d ${text(help)}`;
  });
  return [...arguments_, ...flags];
}

/** Completion for fish: each line names the step it belongs to. */
export function fishCompletion(commands: readonly Command[]): string {
  const all = steps(commands);
  const paths = all.map(({ path }) => path).filter((path) => path !== '');
  return `# Completion of svcctl for fish. Made by: svcctl completion fish
set -g __svcctl_paths ${paths.map(text).join(' ')}
set -g __svcctl_valued ${valueOptions().map(text).join(' ')}
# The place in the line: the words that name a command, and how many arguments follow them.
function __svcctl_place
  set -l path ''
  set -l args 0
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    if contains -- $word $__svcctl_valued
      set skip 1
      continue
    end
    string match -q -- '-*' $word; and continue
    set -l longer (string trim -- "$path $word")
    if test $args = 0; and contains -- $longer $__svcctl_paths
      set path $longer
    else
      set args (math $args + 1)
    end
  end
  echo $path
  echo $args
end
function __svcctl_at
  set -l place (__svcctl_place)
  test "$place[1]" = "$argv[2]"; and test $place[2] = $argv[1]
end
function __svcctl_on
  set -l place (__svcctl_place)
  test "$place[1]" = "$argv[2]"; and test $place[2] -ge $argv[1]
end
complete -c svcctl -f
${all.flatMap(lines).join('\n')}
`;
}
