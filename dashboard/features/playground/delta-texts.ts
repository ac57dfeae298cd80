interface Part {
  type?: string;
  text?: unknown;
  thinking?: unknown;
}

/** The delta of one stream chunk. */
export interface Delta {
  /** A string, or a list of parts from Mistral's reasoning models. */
  content?: string | ReadonlyArray<Part | null> | null;
  reasoning_content?: string | null;
  /** The name of the field at vLLM, Groq, Cerebras and OpenRouter. */
  reasoning?: string | null;
}

/** Text and reasoning of a chunk; empty strings when absent. */
export function deltaTexts(delta: Delta = {}): { content: string; reasoning: string } {
  const { content, reasoning_content, reasoning } = delta;
  const parts = Array.isArray(content) ? (content as ReadonlyArray<Part | null>) : [];
  return {
    content: textOf(content) + parts.map((part) => (part?.type === 'text' ? textOf(part.text) : '')).join(''),
    reasoning: (textOf(reasoning_content) || textOf(reasoning)) + parts.map(thoughtsOf).join(''),
  };
}

function thoughtsOf(part: Part | null): string {
  if (part?.type !== 'thinking') return '';
  const { thinking } = part;
  if (!Array.isArray(thinking)) return textOf(thinking);
  return (thinking as ReadonlyArray<Part | null>).map((thought) => textOf(thought?.text)).join('');
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
