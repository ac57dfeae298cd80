import type { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { type Candidates, type Step, steps, valueOptions } from './steps.ts';

const text = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const candidates = ({ fixed, query }: Candidates): string =>
  [...fixed, ...(query ? [`(svcctl ${query} 2>/dev/null </dev/null)`] : [])].join(' ');

/** The line of an option of a command. */
function optionLine(path: string, { long, short, required, argChoices, description }: Option): string {
  const value = required ? ` -x${argChoices ? ` -a ${text(argChoices.join(' '))}` : ''}` : '';
  const letter = short ? ` -s ${short.slice(1)}` : '';
  const name = long?.slice(2) ?? '';
  return `complete -c svcctl -n "__svcctl_from 0 ${text(path)}" -l ${name}${letter}${value} -d ${text(description)}`;
}

function lines({ path, words, options }: Step): string[] {
  const args = words.flatMap((each, index) => {
    const match = index === words.length - 1 ? 'from' : 'at';
    const what = candidates(each);
    if (what === '') return [];
    return [`complete -c svcctl -n "__svcctl_${match} ${index} ${text(path)}" -a ${text(what)}`];
  });
  return [...args, ...options.map((option) => optionLine(path, option))];
}

/** Returns the completion script for fish. Each line names the step it belongs to. */
export function fishCompletion(program: CliCommand): string {
  const all = steps(program);
  const paths = all.map(({ path }) => path).filter((path) => path !== '');
  return `# Completion of svcctl for fish. Made by: svcctl completion fish
set -g __svcctl_paths ${paths.map(text).join(' ')}
set -g __svcctl_valued ${valueOptions(program).map(text).join(' ')}
# The position in the line: the words that name a command, and the number of arguments after them.
function __svcctl_position
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
  set -l position (__svcctl_position)
  test "$position[1]" = "$argv[2]"; and test $position[2] = $argv[1]
end
function __svcctl_from
  set -l position (__svcctl_position)
  test "$position[1]" = "$argv[2]"; and test $position[2] -ge $argv[1]
end
complete -c svcctl -f
${all.flatMap(lines).join('\n')}
`;
}
