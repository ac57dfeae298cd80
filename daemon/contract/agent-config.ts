/** The facts that the configuration of a client needs. */
export interface AgentFacts {
  /** The address of the gateway, without `/v1`. */
  readonly base: string;
  /** Name of a slot or id of a model. */
  readonly model: string;
  /** Its window in tokens; null when unknown. */
  readonly window: number | null;
}

export interface AgentRow {
  readonly title: string;
  /** Where the text belongs. */
  readonly place: string;
  /** Returns the text. */
  readonly write: (facts: AgentFacts) => string;
}

/** Share of the window at which a client should shorten its history. */
const COMPACT_SHARE = 0.8;
const MAX_OUTPUT = 8_192;

const outputOf = (window: number): number => Math.min(MAX_OUTPUT, Math.floor(window / 4));
const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
/** Returns lines that depend on the window; none when it is unknown. */
const windowed = (window: number | null, lines: (window: number) => readonly string[]): readonly string[] =>
  window === null ? [] : lines(window);
const joined = (...lines: readonly string[]): string => lines.join('\n');
const shell = (variables: Readonly<Record<string, string | null>>): string =>
  Object.entries(variables)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `export ${name}=${value}`)
    .join('\n');

/** The configuration of clients that have to be given the window, which they otherwise assume. */
export const AGENTS = {
  codex: {
    title: 'Codex',
    place: '~/.codex/config.toml; any value in SVC_CLIENT_KEY works while keys are not required',
    write: ({ base, model, window }) =>
      joined(
        `model = "${model}"`,
        'model_provider = "svc"',
        ...windowed(window, (tokens) => [
          `model_context_window = ${tokens}`,
          `model_auto_compact_token_limit = ${Math.floor(tokens * COMPACT_SHARE)}`,
        ]),
        '',
        '[model_providers.svc]',
        'name = "svc"',
        `base_url = "${base}/v1"`,
        'env_key = "SVC_CLIENT_KEY"',
        'wire_api = "responses"',
      ),
  },
  'claude-code': {
    title: 'Claude Code',
    place: 'variables of the shell; the token may be any word while keys are not required',
    write: ({ base, model, window }) =>
      shell({
        ANTHROPIC_BASE_URL: base,
        ANTHROPIC_AUTH_TOKEN: '$SVC_CLIENT_KEY',
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_MAX_CONTEXT_TOKENS: window === null ? null : String(window),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      }),
  },
  opencode: {
    title: 'opencode',
    place: 'opencode.json',
    write: ({ base, model, window }) =>
      pretty({
        $schema: 'https://opencode.ai/config.json',
        model: `svc/${model}`,
        provider: {
          svc: {
            npm: '@ai-sdk/openai-compatible',
            name: 'svc-gateway',
            options: { baseURL: `${base}/v1`, apiKey: '{env:SVC_CLIENT_KEY}' },
            models: {
              [model]: window === null ? {} : { limit: { context: window, output: outputOf(window) } },
            },
          },
        },
      }),
  },
  continue: {
    title: 'Continue',
    place: '~/.continue/config.yaml',
    write: ({ base, model, window }) =>
      joined(
        'name: svc-gateway',
        'version: 1.0.0',
        'schema: v1',
        'models:',
        `  - name: ${model}`,
        '    provider: openai',
        `    model: ${model}`,
        `    apiBase: ${base}/v1`,
        // Continue fills it in from its `.env` file.
        `    apiKey: \${{ secrets.SVC_CLIENT_KEY }}`,
        '    roles: [chat, edit, apply]',
        '    capabilities: [tool_use]',
        ...windowed(window, (tokens) => [
          '    defaultCompletionOptions:',
          `      contextLength: ${tokens}`,
          `      maxTokens: ${outputOf(tokens)}`,
        ]),
      ),
  },
  cline: {
    title: 'Cline',
    place: 'the command line; in the editor, set the context window of the model in its settings',
    write: ({ base, model, window }) =>
      joined(
        ...windowed(window, (tokens) => [`# Context window: ${tokens}`]),
        `cline auth -p openai-compatible -k "$SVC_CLIENT_KEY" -m ${model} -b ${base}/v1`,
      ),
  },
  'qwen-code': {
    title: 'qwen-code',
    place: '~/.qwen/settings.json; the key is read from the variable SVC_CLIENT_KEY',
    write: ({ base, model, window }) =>
      pretty({
        security: { auth: { selectedType: 'openai' } },
        model: { name: model },
        modelProviders: {
          openai: [
            {
              id: model,
              name: model,
              baseUrl: `${base}/v1`,
              envKey: 'SVC_CLIENT_KEY',
              ...(window !== null && { generationConfig: { contextWindowSize: window } }),
            },
          ],
        },
      }),
  },
  pi: {
    title: 'pi',
    place: '~/.pi/agent/models.json',
    write: ({ base, model, window }) =>
      pretty({
        providers: {
          svc: {
            baseUrl: `${base}/v1`,
            api: 'openai-completions',
            apiKey: 'SVC_CLIENT_KEY',
            models: [
              {
                id: model,
                name: model,
                reasoning: false,
                input: ['text'],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                ...(window !== null && { contextWindow: window, maxTokens: outputOf(window) }),
              },
            ],
          },
        },
      }),
  },
  aider: {
    title: 'aider',
    place: `.aider.model.metadata.json; start it with OPENAI_API_BASE and OPENAI_API_KEY`,
    write: ({ model, window }) =>
      pretty({
        [`openai/${model}`]: {
          litellm_provider: 'openai',
          mode: 'chat',
          input_cost_per_token: 0,
          output_cost_per_token: 0,
          ...(window !== null && { max_input_tokens: window, max_output_tokens: outputOf(window) }),
        },
      }),
  },
} as const satisfies Record<string, AgentRow>;

export type AgentName = keyof typeof AGENTS;
export const isAgent = (name: string): name is AgentName => Object.hasOwn(AGENTS, name);
