/** A segment of a text, either a command or plain text. */
interface Segment {
  text: string;
  command: boolean;
}

/** Commands in hints: a known program with its options and words, up to the next punctuation mark. */
const COMMAND = /((?:sudo )?(?:systemctl|usermod)(?: --?[A-Za-z]+| [A-Za-z]+(?:\.socket)?)+)/;

/** Splits a hint into segments, so that commands can be rendered as code. */
export const withCommands = (hint: string): Segment[] =>
  hint
    .split(COMMAND)
    .map((text, at) => ({ text, command: at % 2 === 1 }))
    .filter(({ text }) => text !== '');
