/** What an upstream is; it decides how its model list is read and under which path it reranks. */
export const UPSTREAM_KINDS = ['openai', 'llama-server', 'vllm', 'tei', 'svc'] as const;
