import type { SnippetRoute } from './snippet-route.ts';

/** Named arguments of a call of the OpenAI Python client, which rejects all others. */
interface Parameters {
  readonly takes: ReadonlySet<string>;
  /** Arguments that the client requires although the gateway does not. */
  readonly needs: readonly string[];
}

const list = (takes: string, needs = ''): Parameters => ({
  takes: new Set(takes.split(' ')),
  needs: needs.split(' ').filter(Boolean),
});

export const PYTHON_PARAMETERS: Readonly<Partial<Record<SnippetRoute, Parameters>>> = {
  chat: list(
    'messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options extra_body',
  ),
  completion: list(
    'model prompt best_of echo frequency_penalty logit_bias logprobs max_tokens n presence_penalty seed stop stream stream_options suffix temperature top_p user extra_body',
  ),
  embeddings: list('input model dimensions encoding_format user extra_body'),
  speech: list('input model voice instructions response_format speed stream_format extra_body', 'voice'),
  image: list(
    'prompt background model moderation n output_compression output_format partial_images quality response_format size stream style user extra_body',
  ),
};

/** The body as arguments of the call, with unknown members in `extra_body`; null when the call is not possible. */
export function pythonArguments(
  route: SnippetRoute,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> | null {
  const parameters = PYTHON_PARAMETERS[route];
  if (parameters === undefined || parameters.needs.some((name) => !(name in body))) return null;
  const members = Object.entries(body);
  const known = members.filter(([name]) => parameters.takes.has(name));
  const extra = members.filter(([name]) => !parameters.takes.has(name));
  return Object.fromEntries(
    extra.length === 0 ? known : [...known, ['extra_body', Object.fromEntries(extra)]],
  );
}
