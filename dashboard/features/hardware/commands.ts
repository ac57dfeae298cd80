/** A stretch of a text, which is a command or not. */
interface Stretch {
  text: string;
  command: boolean;
}

/** Commands of the hints: a known program with its options and plain words, up to the next sign. */
const COMMAND = /((?:sudo )?(?:systemctl|usermod)(?: --?[A-Za-z]+| [A-Za-z]+(?:\.socket)?)+)/;

/** A hint in stretches, so that commands can stand there as such. */
export const withCommands = (hint: string): Stretch[] =>
  hint
    .split(COMMAND)
    .map((text, at) => ({ text, command: at % 2 === 1 }))
    .filter(({ text }) => text !== '');
