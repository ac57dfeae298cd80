interface Part {
  type?: string;
  text?: unknown;
  thinking?: unknown;
}

/** What an answer says in one step of its stream. */
export interface Delta {
  /** Mistral's models that think tell a list of parts. */
  content?: string | ReadonlyArray<Part | null> | null;
  reasoning_content?: string | null;
  /** The same of vLLM, Groq, Cerebras and OpenRouter. */
  reasoning?: string | null;
}

/** The text and the thoughts of a step; empty ones say nothing. */
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
