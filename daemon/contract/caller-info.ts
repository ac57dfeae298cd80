/** Where a request comes from, without its address. */
export const ADDRESS_CLASSES = ['loopback', 'private', 'public'] as const;
export type AddressClass = (typeof ADDRESS_CLASSES)[number];

/** What a caller says about itself, and where it calls from. Null: it did not say, or it is not known. */
export interface CallerInfo {
  /** The header `X-Title`, by which some apps name themselves. */
  readonly app: string | null;
  /** The header `User-Agent`. */
  readonly user_agent: string | null;
  readonly address: AddressClass | null;
}

export const UNKNOWN_CALLER: CallerInfo = { app: null, user_agent: null, address: null };

/** Names of apps by their User-Agent; the first match counts. */
const APPS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^svcctl\b/, 'svcctl'],
  [/^svc-gateway\b/, 'svc-gateway'],
  [/\bclaude-(cli|code)\b/i, 'Claude Code'],
  [/^codex/i, 'Codex'],
  [/\bopencode\b/i, 'opencode'],
  [/^QwenCode\b/i, 'qwen-code'],
  [/\bContinue\b/, 'Continue'],
  [/\bcline\b/i, 'Cline'],
  [/\bn8n\b/i, 'n8n'],
  [/\bHomeAssistant\b/i, 'Home Assistant'],
  [/\bOpen ?WebUI\b/i, 'Open WebUI'],
  [/\blitellm\b/i, 'LiteLLM'],
  [/^(Async)?OpenAI\/Python\b/, 'OpenAI SDK (Python)'],
  [/^(Async)?OpenAI\/JS\b/, 'OpenAI SDK (JavaScript)'],
  [/^(Async)?Anthropic\/Python\b/, 'Anthropic SDK (Python)'],
  [/^(Async)?Anthropic\/JS\b/, 'Anthropic SDK (JavaScript)'],
  [/\bai-sdk\b|^ai\//, 'AI SDK'],
  [/\baiohttp\b/, 'Python (aiohttp)'],
  [/^python-httpx\b/, 'Python (httpx)'],
  [/^python-requests\b/, 'Python (requests)'],
  [/^curl\b/, 'curl'],
  [/^(node|undici)\b/, 'Node.js'],
  [/^Mozilla\//, 'Web browser'],
];

/** The name to show for a caller: its own, else one by its User-Agent; null when neither is known. */
export function appName({ app, user_agent: agent }: Pick<CallerInfo, 'app' | 'user_agent'>): string | null {
  if (app !== null || agent === null) return app;
  const known = APPS.find(([pattern]) => pattern.test(agent));
  return known?.[1] ?? /^[^\s/]+/.exec(agent)?.[0] ?? agent;
}

export const ADDRESS_WORDS: Readonly<Record<AddressClass, string>> = {
  loopback: 'this machine',
  private: 'your network',
  public: 'the internet',
};
