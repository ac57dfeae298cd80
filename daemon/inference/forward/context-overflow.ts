/** Maximum length of a message that is searched. */
const MAX_LENGTH = 1_000;

/** Messages of engines about a text that is too long, with both numbers. */
const PATTERNS: readonly RegExp[] = [
  // llama-server, for a text that is evaluated in one step
  /input \((?<asked>\d+) tokens\) is too (?:large|long) to process.{0,80}batch size: (?<most>\d+)/,
  // llama-server, chat
  /request \((?<asked>\d+) tokens\) exceeds the available context size \((?<most>\d+) tokens\)/,
  // vLLM, and servers that copy OpenAI's wording
  /maximum context length is (?<most>\d+) tokens.{0,100}?(?:requested|request has|resulted in|contains)(?: about| at least)? (?<asked>\d+)(?!\d| characters| output tokens)/,
  // vLLM, for a text that is too long before it is tokenised: the number of tokens is unknown
  /maximum context length is (?<most>\d+) tokens.{0,120}?contains \d+ characters/,
  /contains \d+ characters.{0,120}?upper bound for (?<most>\d+) input tokens/,
  // vLLM
  /prompt \(length (?<asked>\d+)\) is longer than the maximum model length of (?<most>\d+)/,
  // TEI
  /must have less than (?<most>\d+) tokens\. Given: (?<asked>\d+)/,
  // Cerebras
  /Current length is (?<asked>\d+) while limit is (?<most>\d+)/,
  // Gemini
  /input token count \((?<asked>\d+)\) exceeds the maximum number of tokens allowed \((?<most>\d+)\)/,
  // Mistral
  /Prompt contains (?<asked>\d+) tokens.{0,80}too large for model with (?<most>\d+)/,
];

/** The tokens that a message says were requested, undefined when it counts characters, and the maximum. */
export interface TooLongNumbers {
  readonly requested: number | undefined;
  readonly most: number;
}

/** Returns the numbers of a message that refuses a text as too long; null for any other message. */
export function tooLongNumbers(message: string): TooLongNumbers | null {
  const text = message.slice(0, MAX_LENGTH);
  for (const pattern of PATTERNS) {
    const found = pattern.exec(text)?.groups;
    if (found)
      return {
        requested: found.asked === undefined ? undefined : Number(found.asked),
        most: Number(found.most),
      };
  }
  return null;
}
